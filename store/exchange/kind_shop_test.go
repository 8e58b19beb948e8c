package exchange_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/storetest"
)

// The suites import, export and import again what the shop has, so that a kind
// without a line there is tried by none of them.
func TestTheShopHasALineOfEachKind(t *testing.T) {
	t.Parallel()
	for _, name := range exchange.KindNames() {
		require.True(t, slices.ContainsFunc(storetest.ShopLines(), func(line string) bool {
			return strings.HasPrefix(line, `{"type":"`+name+`"`)
		}), "the shop has no %s", name)
	}
}
