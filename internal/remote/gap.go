package remote

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Gap is something of the shop that the fetch does not have.
type Gap struct {
	What  string `json:"what"`
	Count *int   `json:"count"` // null where the server does not tell how many there are
}

// String is "3 drafts" or "drafts".
func (g Gap) String() string {
	if g.Count == nil {
		return g.What
	}
	return fmt.Sprintf("%d %s", *g.Count, g.What)
}

// countedGaps are what the fetch left out, by the name of its count.
var countedGaps = []struct{ count, text string }{
	{"cut.products", "products, which the server does not list: its lists end after 10,000 rows"},
	{"cut.products of nodes", "attachments of products to nodes, beyond the first 10,000 of a node"},
	{"cut.nodes", "nodes beyond the first 10,000 of a hierarchy"},
	{"cut.files", "files of no product, beyond the first 10,000"},
	{"cut.stock records", "stock records beyond the first 10,000"},
	{"cut.promotions", "promotions beyond the first 10,000"},
	{"cut.codes", "promotion codes beyond the first 10,000 of a promotion"},
	{"stock of others", "products of stock records that the catalog does not show, because they are drafts or in no node: their stock is moved without them"},
	{"promotions of unknown types", "promotions of types that this version does not have"},
	{"unknown gateways", "gateways that this version does not have"},
	{"gateways without secret", "gateway that needs its password again: PUT /v2/gateways/card_processor"},
	{"products without a SKU", "SKUs: the products have their id instead"},
	{"curated products", "curated products beyond the first 20 of a node"},
	{"sales", "starts of sales: they count from now until their end, and tiers beside them are those of the sale"},
	{"codes without limit", "counts of uses, of codes without a limit: they start at 0"},
}

// untold are what the interface does not have at all.
var untold = []string{
	"products that are not live, and what only they use",
	"other catalogs, and the rules that choose between them",
	"price books that no price shown is from, their names, and sales that have not begun",
	"texts for search engines, attributes of your own, related products, synonyms and redirects",
	"translations of nodes and hierarchies",
	"ledgers of stock, usages of codes, and API clients",
}

// Gaps lists what the fetch does not have.
func (f *Folder) Gaps() (list []Gap) {
	for _, what := range slices.Sorted(maps.Keys(f.state.Refused)) {
		list = append(list, Gap{What: fmt.Sprintf("%s, which the server refuses (%s)", what, f.state.Refused[what])})
	}
	for _, gap := range countedGaps {
		if n := f.state.Counts[gap.count]; n > 0 {
			list = append(list, Gap{gap.text, &n})
		}
	}
	if len(f.state.Shop.OtherLanguages) == 0 {
		list = append(list, Gap{What: "languages other than " + f.state.Shop.Language + ", unless you name them"})
	}
	for _, what := range untold {
		list = append(list, Gap{What: what})
	}
	return list
}

// Summary is "shop.example: 2 languages, 3 currencies".
func (f *Folder) Summary() string {
	s := &f.state.Shop
	return fmt.Sprintf("catalog %s in %s, prices in %s", s.CatalogID, strings.Join(append([]string{s.Language}, s.OtherLanguages...), ", "),
		strings.Join(append([]string{s.Currency}, s.OtherCurrencies...), ", "))
}
