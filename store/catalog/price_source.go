package catalog

import (
	"cmp"
	"maps"
	"slices"

	"portico/store"
	"portico/store/authoring"
)

// pricebookSource names a price book.
type pricebookSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	} `json:"attributes"`
}

// PriceSource is what a price book asks for the products of a SKU.
type PriceSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		SKU        string                 `json:"sku"`
		Currencies map[string]AmountPrice `json:"currencies"`
		Sales      map[string]saleSource  `json:"sales,omitempty"`
	} `json:"attributes"`
	Relationships struct {
		Pricebook *authoring.LinkSource `json:"pricebook"`
	} `json:"relationships"`
}

// AmountPrice is an amount in minor units of its currency.
type AmountPrice struct {
	Amount      int64                 `json:"amount"`
	IncludesTax bool                  `json:"includes_tax"`
	Tiers       map[string]tierSource `json:"tiers,omitempty"`
}

// tierSource is what one unit costs from so many units on.
type tierSource struct {
	MinimumQuantity int   `json:"minimum_quantity"`
	Amount          int64 `json:"amount"`
}

type saleSource struct {
	Schedule   scheduleSource         `json:"schedule"`
	Currencies map[string]AmountPrice `json:"currencies"`
}

// scheduleSource is valid from its first instant until just before its last.
type scheduleSource struct {
	ValidFrom string `json:"valid_from,omitempty"`
	ValidTo   string `json:"valid_to,omitempty"`
}

// ModifierSource changes a child's price from its parent's.
type ModifierSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name         string                 `json:"name"`
		ModifierType PriceModifierType      `json:"modifier_type"`
		Currencies   map[string]AmountPrice `json:"currencies"`
	} `json:"attributes"`
}

func (p *pricebookSource) Key() string { return p.ID }

func (p *pricebookSource) Check(f *authoring.Faults) {
	f.ID("id", &p.ID)
	f.Required("attributes.name", p.Attributes.Name, authoring.MaxName)
	f.Text("attributes.description", p.Attributes.Description, authoring.MaxDescription)
}

func (p *PriceSource) Key() string { return p.ID }

func (p *PriceSource) Check(f *authoring.Faults) {
	f.ID("id", &p.ID)
	f.Required("attributes.sku", p.Attributes.SKU, authoring.MaxName)
	if len(p.Attributes.Currencies) == 0 && len(p.Attributes.Sales) == 0 {
		f.Rule("attributes.currencies", "is required")
	}
	checkAmounts(f, "attributes.currencies", p.Attributes.Currencies)
	for name, sale := range p.Attributes.Sales {
		member := "attributes.sales." + name
		sale.Schedule.check(f, member+".schedule")
		checkAmounts(f, member+".currencies", sale.Currencies)
		p.Attributes.Sales[name] = sale
	}
	if p.Relationships.Pricebook == nil || p.Relationships.Pricebook.Data == nil {
		f.Rule("relationships.pricebook", "is required")
		return
	}
	f.Refers("relationships.pricebook.data.id", "pricebook", &p.Relationships.Pricebook.Data.ID)
}

func (m *ModifierSource) Key() string { return m.ID }

func (m *ModifierSource) Check(f *authoring.Faults) {
	f.ID("id", &m.ID)
	f.Required("attributes.name", m.Attributes.Name, authoring.MaxName)
	f.OneOf("attributes.modifier_type", string(m.Attributes.ModifierType), string(PriceIncrement), string(PriceDecrement), string(PriceEquals))
	checkAmounts(f, "attributes.currencies", m.Attributes.Currencies)
}

func checkAmounts(f *authoring.Faults, member string, amounts map[string]AmountPrice) {
	for code, price := range amounts {
		f.Currency(member+"."+code, code)
		f.Between(member+"."+code+".amount", int(price.Amount), 0, store.MaxAmount)
		quantities := map[int]string{}
		for _, name := range slices.Sorted(maps.Keys(price.Tiers)) {
			t := price.Tiers[name]
			tier := member + "." + code + ".tiers." + name
			f.Between(tier+".minimum_quantity", t.MinimumQuantity, 1, store.MaxStock)
			f.Between(tier+".amount", int(t.Amount), 0, store.MaxAmount)
			if twin, twice := quantities[t.MinimumQuantity]; twice {
				f.Add(tier+".minimum_quantity", "must differ from that of the tier %q, %d", twin, t.MinimumQuantity)
			}
			quantities[t.MinimumQuantity] = name
		}
	}
}

// offers are what the price book asks, by currency.
func (p *PriceSource) offers() map[string]*Offer {
	found := map[string]*Offer{}
	of := func(code string) *Offer {
		if found[code] == nil {
			found[code] = &Offer{PricebookID: p.Relationships.Pricebook.ID()}
		}
		return found[code]
	}
	for code, amount := range p.Attributes.Currencies {
		base := amount.asked()
		of(code).Base = &base
	}
	for name, s := range p.Attributes.Sales {
		for code, amount := range s.Currencies {
			o := of(code)
			o.Sales = append(o.Sales, Sale{ID: name, From: s.Schedule.from(), To: s.Schedule.to(), Asked: amount.asked()})
		}
	}
	for _, o := range found {
		sortSales(o.Sales)
	}
	return found
}

func (a AmountPrice) asked() Asked {
	kept := Asked{Minor: a.Amount, IncludesTax: a.IncludesTax}
	for name, t := range a.Tiers {
		kept.Tiers = append(kept.Tiers, Tier{name, t.MinimumQuantity, t.Amount})
	}
	slices.SortFunc(kept.Tiers, func(a, b Tier) int { return cmp.Compare(a.MinimumQuantity, b.MinimumQuantity) })
	return kept
}

// from and to are the edges in microseconds, 0 where the schedule is open.

func (s *scheduleSource) from() int64 { return edge(s.ValidFrom) }
func (s *scheduleSource) to() int64   { return edge(s.ValidTo) }

func edge(text string) int64 {
	if text == "" {
		return 0
	}
	return store.Micros(store.StoredTime(text))
}

func (s *scheduleSource) check(f *authoring.Faults, member string) {
	f.Time(member+".valid_from", &s.ValidFrom)
	f.Time(member+".valid_to", &s.ValidTo)
	if s.ValidFrom != "" && s.ValidTo != "" && s.ValidTo <= s.ValidFrom {
		f.Add(member+".valid_to", "must be after the schedule's start, %s, not %s", s.ValidFrom, s.ValidTo)
	}
}
