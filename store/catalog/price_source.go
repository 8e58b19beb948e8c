package catalog

import (
	"maps"
	"slices"

	"portico/store"
	"portico/store/authoring"
)

// pricebookSource is a price book in an import file.
type pricebookSource struct {
	Type       string `json:"type"`
	ID         string `json:"id"`
	Attributes struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	} `json:"attributes"`
}

// PriceSource is the price of a SKU in a price book, in an import file. Currencies and tiers are maps by code and name.
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
	Tiers       map[string]AmountTier `json:"tiers,omitempty"`
}

// AmountTier is the unit price from a minimum quantity on.
type AmountTier struct {
	MinimumQuantity int   `json:"minimum_quantity"`
	Amount          int64 `json:"amount"`
}

// saleSource is a sale: the amounts that replace those of the price while it lasts.
type saleSource struct {
	Schedule   scheduleSource         `json:"schedule"`
	Currencies map[string]AmountPrice `json:"currencies"`
}

// ModifierSource is a price modifier in an import file.
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

func (p *pricebookSource) Check(f *authoring.Validator) {
	f.ID("id", &p.ID)
	f.Required("attributes.name", p.Attributes.Name, authoring.MaxName)
	f.Text("attributes.description", p.Attributes.Description, authoring.MaxDescription)
}

func (p *PriceSource) Key() string { return p.ID }

func (p *PriceSource) Check(f *authoring.Validator) {
	f.ID("id", &p.ID)
	f.Required("attributes.sku", p.Attributes.SKU, authoring.MaxName)
	if len(p.Attributes.Currencies) == 0 && len(p.Attributes.Sales) == 0 {
		f.Rule("attributes.currencies", "is required")
	}
	if p.Attributes.Currencies == nil {
		p.Attributes.Currencies = map[string]AmountPrice{}
	}
	checkAmounts(f, "attributes.currencies", p.Attributes.Currencies)
	for name, sale := range p.Attributes.Sales {
		if !f.Name("attributes.sales", "sale", name) {
			continue
		}
		if sale.Currencies == nil {
			sale.Currencies = map[string]AmountPrice{}
		}
		member := "attributes.sales." + name
		sale.Schedule.check(f, member+".schedule")
		checkAmounts(f, member+".currencies", sale.Currencies)
		for code, amount := range sale.Currencies {
			if price, has := p.Attributes.Currencies[code]; has && amount.Amount > price.Amount && amount.IncludesTax == price.IncludesTax {
				f.Warn(member+".currencies."+code+".amount", "is above the price without the sale, %d, got %d", price.Amount, amount.Amount)
			}
		}
		p.Attributes.Sales[name] = sale
	}
	if p.Relationships.Pricebook == nil || p.Relationships.Pricebook.Data == nil {
		f.Rule("relationships.pricebook", "is required")
		return
	}
	f.LinkType("relationships.pricebook.data.type", p.Relationships.Pricebook.Data.Type, "pricebook")
	f.Refers("relationships.pricebook.data.id", "pricebook", &p.Relationships.Pricebook.Data.ID)
}

// Keys records the product of the price.
func (p *PriceSource) Keys(k authoring.KeyRecorder) {
	k.Use(authoring.KeySKU, p.Attributes.SKU, "attributes.sku", 0)
}

// DecodePrice decodes a stored price.
func DecodePrice(body []byte) (*PriceSource, error) {
	if p, ok := scanPrice(body); ok {
		return p, nil
	}
	p := &PriceSource{}
	return p, store.Decode(body, p)
}

// scanPrice decodes a price without tiers and sales, which most are; ok is false for others.
func scanPrice(body []byte) (p *PriceSource, ok bool) {
	s, p := &DocumentScanner{Input: string(body)}, &PriceSource{}
	p.Type = s.Member(`{"type":`)
	p.ID = s.Member(`,"id":`)
	p.Attributes.SKU = s.Member(`,"attributes":{"sku":`)
	p.Attributes.Currencies = map[string]AmountPrice{}
	s.Skip(`,"currencies":{`)
	for more := !s.TrySkip(`}`); more && !s.Failed; {
		code := s.Member(``)
		var price AmountPrice
		s.Skip(`:{"amount":`)
		price.Amount = int64(s.number())
		s.Skip(`,"includes_tax":`)
		price.IncludesTax = s.Boolean()
		s.Skip(`}`)
		p.Attributes.Currencies[code] = price
		more = s.TrySkip(`,`)
		if !more {
			s.Skip(`}`)
		}
	}
	book := &authoring.RefSource{}
	p.Relationships.Pricebook = &authoring.LinkSource{Data: book}
	book.Type = s.Member(`},"relationships":{"pricebook":{"data":{"type":`)
	book.ID = s.Member(`,"id":`)
	s.Skip(`}}}}`)
	return p, !s.Failed && len(s.Input) == 0
}

func (m *ModifierSource) Key() string { return m.ID }

func (m *ModifierSource) Check(f *authoring.Validator) {
	f.ID("id", &m.ID)
	f.Required("attributes.name", m.Attributes.Name, authoring.MaxName)
	f.OneOf("attributes.modifier_type", string(m.Attributes.ModifierType), string(PriceIncrement), string(PriceDecrement), string(PriceEquals))
	if m.Attributes.Currencies == nil {
		m.Attributes.Currencies = map[string]AmountPrice{}
	}
	checkAmounts(f, "attributes.currencies", m.Attributes.Currencies)
}

// Keys records the modifier's name, by which products name it.
func (m *ModifierSource) Keys(k authoring.KeyRecorder) {
	k.Define(authoring.KeyModifier, m.Attributes.Name, "attributes.name")
}

// checkAmounts checks amounts by currency, each with its tiers. Tiers must differ in their minimum quantity.
func checkAmounts(f *authoring.Validator, member string, amounts map[string]AmountPrice) {
	for code, price := range amounts {
		at := member + "." + code
		f.Currency(at, code)
		f.Between(at+".amount", int(price.Amount), 0, store.MaxAmount)
		if len(price.Tiers) == 0 {
			continue
		}
		quantities := map[int]string{}
		for _, name := range slices.Sorted(maps.Keys(price.Tiers)) {
			if !f.Name(at+".tiers", "tier", name) {
				continue
			}
			t := price.Tiers[name]
			tier := at + ".tiers." + name
			f.Between(tier+".minimum_quantity", t.MinimumQuantity, 1, store.MaxCount)
			f.Between(tier+".amount", int(t.Amount), 0, store.MaxAmount)
			if t.Amount == 0 && price.Amount > 0 {
				f.Warn(tier+".amount", "is 0 or absent, so that these units are free")
			}
			if t.Amount > price.Amount {
				f.Warn(tier+".amount", "is above the price of one unit, %d, got %d", price.Amount, t.Amount)
			}
			if twin, twice := quantities[t.MinimumQuantity]; twice {
				f.Add(tier+".minimum_quantity", "must differ from that of the tier %q, %d", twin, t.MinimumQuantity)
			}
			quantities[t.MinimumQuantity] = name
		}
	}
}

// PriceModifierType is how a price modifier changes the parent's price.
type PriceModifierType string

// The types.
const (
	PriceIncrement PriceModifierType = "price_increment" // adds an amount
	PriceDecrement PriceModifierType = "price_decrement" // subtracts an amount, down to zero
	PriceEquals    PriceModifierType = "price_equals"    // replaces the price
)
