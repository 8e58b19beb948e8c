package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"portico/internal/datagen"
)

// ShopLines returns the lines of ShopFile.
func ShopLines() []string {
	var lines []string
	for line := range strings.Lines(ShopFile) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}

// ShopDrafts returns the IDs and SKUs of the shop's drafts, which must never be published.
func ShopDrafts() (ids, skus []string) {
	return []string{"drill-draft", "easel-pine-draft"}, []string{"SECRET-DRILL", "SECRET-PINE"}
}

// LampID is a UUID, which an import may spell in upper case.
const LampID = "c0ffee00-0000-4000-8000-00000000000a"

// ShopLine returns a line of the shop.
func ShopLine(kind, id string) string {
	for _, line := range ShopLines() {
		if strings.HasPrefix(line, fmt.Sprintf(`{"type":%q,"id":%q,`, kind, id)) {
			return line
		}
	}
	panic("the shop has no " + kind + " " + id)
}

// ChangedShopLine returns a line of the shop with old replaced by new.
func ChangedShopLine(kind, id, old, new string) string {
	text := ShopLine(kind, id)
	if !strings.Contains(text, old) {
		panic(text + " has no " + old)
	}
	return strings.Replace(text, old, new, 1)
}

// LineType returns the type of a canonical line, which begins with it.
func LineType(line string) string { return strings.Split(line, `"`)[3] }

// JoinLines joins lines to an import file.
func JoinLines(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// OutletRuleLine returns the import line of a rule that leads to the outlet. members are more
// attributes, each followed by a comma.
func OutletRuleLine(id, members string) string {
	return fmt.Sprintf(`{"type":"catalog_rule","id":%q,"attributes":{"name":%q,"catalog_id":"outlet",%s"created_at":"2024-01-01T00:00:00.000Z"}}`, id, id, members)
}

// CatalogID returns the ID of the catalog in an import file.
func CatalogID(t require.TestingT, text string) string {
	for line := range strings.Lines(text) {
		if LineType(line) == "catalog" {
			return strings.Split(line, `"`)[7]
		}
	}
	require.FailNow(t, "the shop has no catalog")
	return ""
}

// WithoutStock removes stock lines from an import file.
func WithoutStock(text string) string {
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(text)), func(line string) bool { return LineType(line) == "stock" })
	return strings.Join(lines, "")
}

// GenerateShop returns an import file of a generated shop.
func GenerateShop(t require.TestingT, products int, seed uint64) string {
	var file strings.Builder
	require.NoError(t, datagen.WriteShop(&file, products, seed))
	return file.String()
}
