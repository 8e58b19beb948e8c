package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/price"
)

// ShownProduct is what a release shows of a product.
type ShownProduct struct {
	name         string            // in the base language
	body         []byte            // JSON of all but the translations
	document     []byte            // JSON of what depends on the language, in the base language
	translations map[string][]byte // the same in other languages
}

// changedMembers returns the members in which two versions of a product differ. Those of a translation begin with
// translations and its language; they leave out what changed likewise in the base language.
func changedMembers(was, is *ShownProduct) []store.MemberChange {
	changes := store.ChangedMembers(was.body, is.body)
	key := func(c store.MemberChange) string {
		return string(store.Encode(c))
	}
	inBase := map[string]bool{}
	for _, c := range changes {
		inBase[key(c)] = true
	}
	for _, language := range store.Unique(slices.Concat(SortedIDs(was.translations), SortedIDs(is.translations))) {
		before, after := was.translations[language], is.translations[language]
		translated := func(c store.MemberChange) []string {
			return append([]string{"translations", language}, c.Path...)
		}
		switch {
		case before == nil:
			for _, c := range store.ChangedMembers(is.document, after) {
				changes = append(changes, store.MemberChange{Path: translated(c), After: c.After})
			}
		case after == nil: // Before, because the value is one that the translation had
			for _, c := range store.ChangedMembers(was.document, before) {
				changes = append(changes, store.MemberChange{Path: translated(c), Before: c.After})
			}
		default:
			for _, c := range store.ChangedMembers(before, after) {
				if !inBase[key(c)] {
					changes = append(changes, store.MemberChange{Path: translated(c), Before: c.Before, After: c.After})
				}
			}
		}
	}
	for i := range changes {
		changes[i].Path, _ = lineMembers.Apply(changes[i].Path)
	}
	slices.SortStableFunc(changes, func(a, b store.MemberChange) int { return slices.Compare(a.Path, b.Path) })
	return changes
}

// lineMembers are the members of a ShownProduct that a line of an import has elsewhere.
var lineMembers = store.PathRenames{
	{"custom_attributes", "attributes.custom_attributes"}, {"meta.product_types", "attributes.product_types"},
	{"extras.seo", "attributes.seo"}, {"extras.related", "relationships.related"}, {"extras.alts.*", "relationships.files.*.alt"},
	{"translations.*.meta.language", "attributes.locales.*.locale"}, {"translations.*.attributes", "attributes.locales.*"}, {"translations.*.extras", "attributes.locales.*"}, {"translations", "attributes.locales"},
}

// ProductTexts are the parts of a product as releases store them.
type ProductTexts struct {
	Custom    string // values of its own attributes by key; empty for none
	Offers    string // by price.OfferLines
	Crumbs    string
	Documents map[string]string // by language; "" is the base language
	Extras    map[string]string // by language; none for most products
}

// shownPrice is a price in one currency.
type shownPrice struct {
	PricebookID string `json:"pricebook_id"`
	*catalog.AmountPrice
	Sales map[string]shownSale `json:"sales,omitempty"` // by name
}

// shownSale is a sale, with its times as imports have them.
type shownSale struct {
	ValidFrom string `json:"valid_from,omitempty"`
	ValidTo   string `json:"valid_to,omitempty"`
	*catalog.AmountPrice
}

// amountOf returns a price as imports have it.
func amountOf(p *price.TieredPrice) *catalog.AmountPrice {
	if p == nil {
		return nil
	}
	amount := &catalog.AmountPrice{Amount: p.Minor, IncludesTax: p.IncludesTax, Tiers: map[string]catalog.AmountTier{}}
	for _, tier := range p.Tiers {
		amount.Tiers[tier.Name] = catalog.AmountTier{MinimumQuantity: tier.MinimumQuantity, Amount: tier.Minor}
	}
	return amount
}

// showSales returns sales by name.
func showSales(sales []price.Sale) map[string]shownSale {
	shown := make(map[string]shownSale, len(sales))
	for _, sale := range sales {
		s := shownSale{AmountPrice: amountOf(&sale.TieredPrice)}
		if sale.From != 0 {
			s.ValidFrom = store.FormatTime(time.UnixMicro(sale.From))
		}
		if sale.To != 0 {
			s.ValidTo = store.FormatTime(time.UnixMicro(sale.To))
		}
		shown[sale.ID] = s
	}
	return shown
}

// Show joins the parts: the members of the base language as REST shows them, and beside them custom_attributes, prices
// by currency, and extras.
func (t *ProductTexts) Show(id string) (*ShownProduct, error) {
	body, err := t.document("")
	if err != nil {
		return nil, fmt.Errorf("product %s: %w", id, err)
	}
	var all struct {
		Attributes struct {
			Name string `json:"name"`
		} `json:"attributes"`
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, fmt.Errorf("product %s: %w", id, err)
	}
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("product %s: %w", id, err)
	}
	if t.Custom != "" {
		members["custom_attributes"] = json.RawMessage(t.Custom)
	}
	prices := map[string]shownPrice{}
	for _, code := range price.OfferCurrencies(t.Offers) {
		offer, err := price.OfferIn(t.Offers, code)
		if err != nil {
			return nil, fmt.Errorf("product %s: %w", id, err)
		}
		prices[code] = shownPrice{offer.PricebookID, amountOf(offer.Base), showSales(offer.Sales)}
	}
	members["prices"] = store.Encode(prices)
	shown := &ShownProduct{all.Attributes.Name, store.Encode(members), body, map[string][]byte{}}
	for language := range t.Documents {
		if language == "" {
			continue
		}
		if shown.translations[language], err = t.document(language); err != nil {
			return nil, fmt.Errorf("product %s: %w", id, err)
		}
	}
	return shown, nil
}

// document returns the JSON of the document in a language, with its breadcrumbs and extras. A stored document is without
// what depends on prices and nodes: its attributes are open at the line break, and meta is open at the end.
func (t *ProductTexts) document(language string) ([]byte, error) {
	attributes, rest, ok := strings.Cut(t.Documents[language], "\n")
	if !ok {
		return nil, fmt.Errorf("the document %q is damaged", language)
	}
	text := attributes + "}" + rest + "," + t.Crumbs + "}"
	if extras := t.Extras[language]; extras != "" {
		text += `,"extras":` + extras
	}
	return []byte(text + "}"), nil
}
