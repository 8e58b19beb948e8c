package exchange_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/storetest"
)

// TestShopHasEachKind checks that storetest's shop has a line of each resource type, so that
// the suites test all of them.
func TestShopHasEachKind(t *testing.T) {
	t.Parallel()
	for _, name := range exchange.KindNames() {
		require.True(t, slices.ContainsFunc(storetest.ShopLines(), func(line string) bool {
			return strings.HasPrefix(line, `{"type":"`+name+`"`)
		}), "the shop has no %s", name)
	}
}
