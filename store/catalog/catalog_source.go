package catalog

import (
	"cmp"
	"slices"
	"strconv"

	"portico/store/authoring"
)

// Source is a catalog in an import file.
type Source struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name         string            `json:"name"`
		Hierarchies  []string          `json:"hierarchies"`
		PricebookIDs []RankedPricebook `json:"pricebook_ids"`
		Locale       string            `json:"locale,omitempty"`   // language of the base texts; default: the shop's
		Currency     string            `json:"currency,omitempty"` // default: the shop's
		CreatedAt    string            `json:"created_at,omitempty"`
	} `json:"attributes"`
}

// RankedPricebook is a price book of a catalog; the highest priority wins.
type RankedPricebook struct {
	ID       string `json:"id"`
	Priority int    `json:"priority"`
}

func (c *Source) Key() string { return c.ID }

func (c *Source) Check(f *authoring.Validator) {
	f.ID("id", &c.ID)
	a := &c.Attributes
	f.Required("attributes.name", a.Name, authoring.MaxName)
	for i := range a.Hierarchies {
		f.Refers("attributes.hierarchies."+strconv.Itoa(i), "hierarchy", &a.Hierarchies[i])
	}
	checkDistinct(f.Add, "attributes.hierarchies", "", "", a.Hierarchies)
	books := make([]string, len(a.PricebookIDs))
	for i := range a.PricebookIDs {
		f.Refers("attributes.pricebook_ids."+strconv.Itoa(i)+".id", "pricebook", &a.PricebookIDs[i].ID)
		books[i] = a.PricebookIDs[i].ID
	}
	checkDistinct(f.Add, "attributes.pricebook_ids", ".id", "", books)
	if a.Locale != "" {
		f.Locale("attributes.locale", a.Locale)
	}
	if a.Currency != "" {
		f.KnownCurrency("attributes.currency", a.Currency)
	}
	f.Time("attributes.created_at", &a.CreatedAt)
}

// Ranked returns the price books by descending priority.
func (c *Source) Ranked() []RankedPricebook {
	ranks := slices.Clone(c.Attributes.PricebookIDs)
	slices.SortStableFunc(ranks, func(a, b RankedPricebook) int { return cmp.Compare(b.Priority, a.Priority) })
	return ranks
}
