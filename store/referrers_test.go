package store_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestReferrersNameTheFirstTen(t *testing.T) {
	t.Parallel()
	var used store.Referrers
	for i := range 12 {
		used.Add(store.AuditPrice, "p-"+strconv.Itoa(i))
	}
	err := used.InUse([]string{"ids", "0"}, "is used by %s")
	require.Equal(t, `ids.0 is used by the price "p-0" and 11 more.`, err.Error())
	require.Equal(t, store.InUse, err.Reason)
	require.Len(t, err.Referrers.First, 10)
	require.Equal(t, store.Referrer{Kind: store.AuditPrice, ID: "p-9"}, err.Referrers.First[9])
}
