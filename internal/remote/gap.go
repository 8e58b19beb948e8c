package remote

import (
	"fmt"
	"maps"
	"slices"
)

// Gap is something of the shop that the fetch does not have.
type Gap struct {
	What  string `json:"what"`
	Count *int   `json:"count"` // null where the server does not tell how many there are
}

// String is "promotion codes: 3", or "synonyms" without a count.
func (g Gap) String() string {
	if g.Count == nil {
		return g.What
	}
	return fmt.Sprintf("%s: %d", g.What, *g.Count)
}

// countedGaps are what the fetch left out, by the name of its count.
var countedGaps = []struct{ count, text string }{
	{"cut.products", "products that the server does not list, since its lists end after 10,000 rows"},
	{"cut.products of nodes", "attachments of products to a node, beyond the first 10,000"},
	{"cut.nodes", "nodes of a hierarchy beyond the first 10,000"},
	{"cut.files", "files of no product, beyond the first 10,000"},
	{"cut.stock records", "stock records beyond the first 10,000"},
	{"cut.promotions", "promotions beyond the first 10,000"},
	{"cut.codes", "codes of a promotion beyond the first 10,000"},
	{"stock of others", "products that have stock, but are not in the catalog (their stock is moved)"},
	{"products without a SKU", "SKUs of products without one (they have their id instead)"},
	{"curated products", "curated products of a node beyond the first 20"},
	{"sales", "when a sale began (it is on sale from now on), and the tiers of the price beside it"},
	{"promotions of unknown types", "promotions of a type that Portico does not have"},
	{"codes without limit", "how often a code without limit was used (it starts at 0)"},
	{"unknown gateways", "gateways that Portico does not have"},
	{"gateways without secret", "passwords of enabled gateways (set them with PUT /v2/gateways/card_processor)"},
}

// untold are what the interface does not have at all.
var untold = []string{
	"products that are not live",
	"other catalogs (fetch each with --from-channel and --from-tag), and the rules that choose between them",
	"price books that no price shown is from, their names, and sales that have not begun",
	"texts for search engines, attributes of your own, related products, synonyms and redirects",
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
		list = append(list, Gap{What: "texts in languages other than " + f.state.Shop.Language + " (name them with --from-language)"})
	}
	for _, what := range untold {
		list = append(list, Gap{What: what})
	}
	return list
}
