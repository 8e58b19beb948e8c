package store

import "encoding/json"

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
	Amount      int64           `json:"amount"`
	IncludesTax bool            `json:"includes_tax"`
	Tiers       json.RawMessage `json:"tiers,omitempty"`
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
		ModifierType string                 `json:"modifier_type"`
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
	f.oneOf("attributes.modifier_type", m.Attributes.ModifierType, "price_increment", "price_decrement", "price_equals")
	f.amounts("attributes.currencies", m.Attributes.Currencies)
}

// maxAmount keeps amounts exact in every client's numbers.
const maxAmount = 1<<53 - 1

func (f *faults) amounts(member string, amounts map[string]amountPrice) {
	for code, price := range amounts {
		f.currency(member+"."+code, code)
		f.between(member+"."+code+".amount", int(price.Amount), 0, maxAmount)
		f.object(member+"."+code+".tiers", &price.Tiers)
		amounts[code] = price
	}
}

func (s *scheduleSource) check(f *faults, member string) {
	f.time(member+".valid_from", &s.ValidFrom)
	f.time(member+".valid_to", &s.ValidTo)
	if s.ValidFrom != "" && s.ValidTo != "" && s.ValidTo <= s.ValidFrom {
		f.add(member+".valid_to", "must be after valid_from, %s, not %s", s.ValidFrom, s.ValidTo)
	}
}
