package storetest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
)

// faultsOf are the faults that an import told of.
func ImportErrors(t require.TestingT, err error) []exchange.ImportFault {
	var faults *exchange.ImportFaults
	require.ErrorAs(t, err, &faults)
	require.Equal(t, faults.Count, len(faults.Faults))
	return faults.Faults
}

// with is a line of the shop with one change.
func ChangedShopLine(kind, id, old, new string) string {
	text := ShopLine(kind, id)
	if !strings.Contains(text, old) {
		panic(text + " has no " + old)
	}
	return strings.Replace(text, old, new, 1)
}
