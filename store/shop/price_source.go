package shop

import (
	"cmp"
	"maps"
	"slices"

	"portico/store"
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

// priceSource is what a price book asks for the products of a SKU.
type priceSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		SKU        string                 `json:"sku"`
		Currencies map[string]amountPrice `json:"currencies"`
		Sales      map[string]saleSource  `json:"sales,omitempty"`
	} `json:"attributes"`
	Relationships struct {
		Pricebook *linkSource `json:"pricebook"`
	} `json:"relationships"`
}

// amountPrice is an amount in minor units of its currency.
type amountPrice struct {
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
	Currencies map[string]amountPrice `json:"currencies"`
}

// scheduleSource is valid from its first instant until just before its last.
type scheduleSource struct {
	ValidFrom string `json:"valid_from,omitempty"`
	ValidTo   string `json:"valid_to,omitempty"`
}

// modifierSource changes a child's price from its parent's.
type modifierSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name         string                 `json:"name"`
		ModifierType PriceModifierType      `json:"modifier_type"`
		Currencies   map[string]amountPrice `json:"currencies"`
	} `json:"attributes"`
}

func (p *pricebookSource) key() string { return p.ID }

func (p *pricebookSource) check(f *faults) {
	f.id("id", &p.ID)
	f.required("attributes.name", p.Attributes.Name, maxName)
	f.text("attributes.description", p.Attributes.Description, maxDescription)
}

func (p *priceSource) key() string { return p.ID }

func (p *priceSource) check(f *faults) {
	f.id("id", &p.ID)
	f.required("attributes.sku", p.Attributes.SKU, maxName)
	if len(p.Attributes.Currencies) == 0 && len(p.Attributes.Sales) == 0 {
		f.add("attributes.currencies", "is required")
	}
	f.amounts("attributes.currencies", p.Attributes.Currencies)
	for name, sale := range p.Attributes.Sales {
		member := "attributes.sales." + name
		sale.Schedule.check(f, member+".schedule")
		f.amounts(member+".currencies", sale.Currencies)
		p.Attributes.Sales[name] = sale
	}
	if p.Relationships.Pricebook == nil || p.Relationships.Pricebook.Data == nil {
		f.add("relationships.pricebook", "is required")
		return
	}
	f.refers("relationships.pricebook.data.id", "pricebook", &p.Relationships.Pricebook.Data.ID)
}

func (m *modifierSource) key() string { return m.ID }

func (m *modifierSource) check(f *faults) {
	f.id("id", &m.ID)
	f.required("attributes.name", m.Attributes.Name, maxName)
	f.oneOf("attributes.modifier_type", string(m.Attributes.ModifierType), string(PriceIncrement), string(PriceDecrement), string(PriceEquals))
	f.amounts("attributes.currencies", m.Attributes.Currencies)
}

func (f *faults) amounts(member string, amounts map[string]amountPrice) {
	for code, price := range amounts {
		f.currency(member+"."+code, code)
		f.between(member+"."+code+".amount", int(price.Amount), 0, store.MaxAmount)
		quantities := map[int]string{}
		for _, name := range slices.Sorted(maps.Keys(price.Tiers)) {
			t := price.Tiers[name]
			tier := member + "." + code + ".tiers." + name
			f.between(tier+".minimum_quantity", t.MinimumQuantity, 1, MaxStock)
			f.between(tier+".amount", int(t.Amount), 0, store.MaxAmount)
			if twin, twice := quantities[t.MinimumQuantity]; twice {
				f.add(tier+".minimum_quantity", "must differ from that of the tier %q, %d", twin, t.MinimumQuantity)
			}
			quantities[t.MinimumQuantity] = name
		}
	}
}

// offers are what the price book asks, by currency.
func (p *priceSource) offers() map[string]*offer {
	found := map[string]*offer{}
	of := func(code string) *offer {
		if found[code] == nil {
			found[code] = &offer{PricebookID: p.Relationships.Pricebook.id()}
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
			o.Sales = append(o.Sales, sale{ID: name, From: s.Schedule.from(), To: s.Schedule.to(), asked: amount.asked()})
		}
	}
	for _, o := range found {
		sortSales(o.Sales)
	}
	return found
}

func (a amountPrice) asked() asked {
	kept := asked{Minor: a.Amount, IncludesTax: a.IncludesTax}
	for name, t := range a.Tiers {
		kept.Tiers = append(kept.Tiers, tier{name, t.MinimumQuantity, t.Amount})
	}
	slices.SortFunc(kept.Tiers, func(a, b tier) int { return cmp.Compare(a.MinimumQuantity, b.MinimumQuantity) })
	return kept
}

// from and to are the edges in microseconds, 0 where the schedule is open.

func (s *scheduleSource) from() int64 { return edge(s.ValidFrom) }
func (s *scheduleSource) to() int64   { return edge(s.ValidTo) }

func edge(text string) int64 {
	if text == "" {
		return 0
	}
	return store.Micros(store.CheckedTime(text))
}

func (s *scheduleSource) check(f *faults, member string) {
	f.time(member+".valid_from", &s.ValidFrom)
	f.time(member+".valid_to", &s.ValidTo)
	if s.ValidFrom != "" && s.ValidTo != "" && s.ValidTo <= s.ValidFrom {
		f.add(member+".valid_to", "must be after valid_from, %s, not %s", s.ValidFrom, s.ValidTo)
	}
}
