package remote

import (
	"fmt"
	"maps"
	"slices"
)

// Gap is something of the shop that the fetch does not have.
type Gap struct {
	What  string `json:"what"`
	Count *int   `json:"count"` // null where their number is unknown
}

// String is "promotion codes: 3", or "synonyms" without a count.
func (g Gap) String() string {
	if g.Count == nil {
		return g.What
	}
	return fmt.Sprintf("%s: %d", g.What, *g.Count)
}

// countedGaps are what the fetch left out, by the name of its count in fetchState.Counts.
var countedGaps = []struct{ count, text string }{
	{"cut.products", "products that the server does not list, since its lists end after 10,000 rows"},
	{"cut.products of nodes", "attachments of products to a node, beyond the first 10,000"},
	{"cut.nodes", "nodes of a hierarchy beyond the first 10,000"},
	{"cut.files", "files of no product, beyond the first 10,000"},
	{unreadStock, "stock records that the server does not list"},
	{"cut.promotions", "promotions beyond the first 10,000"},
	{"cut.codes", "codes of a promotion beyond the first 10,000"},
	{"stock of others", "products that have stock, but are not in the catalog (their stock is moved)"},
	{"products without a SKU", "SKUs of products without one (their id is their SKU)"},
	{"curated products", "curated products of a node beyond the first 20"},
	{"ranked price books", "priorities of price books (the one with the fewest prices comes first; check the catalog line)"},
	{"sales", "the start of sales (they are on from now), and the tiers of the prices that they replace"},
	{"promotions of unknown types", "promotions of a type that Portico does not have"},
	{"codes without limit", "uses so far of codes without a limit (they start at 0)"},
	{"unknown gateways", "gateways that Portico does not have"},
	{"gateways without secret", "passwords of enabled gateways (set them with PUT /v2/gateways/card_processor)"},
}

// notInInterface are what the interface does not have at all.
var notInInterface = []string{
	"products that are not live",
	"other catalogs (read each with --from-channel and --from-tag), and rules for accounts, customers and schedules",
	"names of price books, price books that no shown price is from, and future sales",
	"texts for search engines, attributes of your own, related products, synonyms and redirects",
	"ledgers of stock, usages of codes, and API clients",
}

// Gaps lists what the fetch does not have: what the server refused, what was left out and counted, and notInInterface.
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
	for _, what := range notInInterface {
		list = append(list, Gap{What: what})
	}
	return list
}
