package storetest

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// catalogOf is the id of a generated shop's catalog.
func CatalogID(t require.TestingT, text string) string {
	for line := range strings.Lines(text) {
		if LineType(line) == "catalog" {
			return strings.Split(line, `"`)[7]
		}
	}
	require.FailNow(t, "the shop has no catalog")
	return ""
}

// withoutStock leaves out what no list of products shows.
func WithoutStock(text string) string {
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(text)), func(line string) bool { return LineType(line) == "stock" })
	return strings.Join(lines, "")
}
