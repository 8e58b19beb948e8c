package rule

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"portico/store"
)

// DetailsInput is what a promotion gives. One member is not nil: that of its type.
type DetailsInput struct {
	FixedDiscount       *Details `json:"fixedDiscount,omitempty"`
	PercentDiscount     *Details `json:"percentDiscount,omitempty"`
	ItemFixedDiscount   *Details `json:"itemFixedDiscount,omitempty"`
	ItemPercentDiscount *Details `json:"itemPercentDiscount,omitempty"`
	XForY               *Details `json:"xForY,omitempty"`
	XForAmount          *Details `json:"xForAmount,omitempty"`
	BundleFixedDiscount *Details `json:"bundleFixedDiscount,omitempty"`
	BundleGift          *Details `json:"bundleGift,omitempty"`
}

// Details returns the member that is not nil, with its type; nil for nil.
func (in *DetailsInput) Details() *Details {
	if in == nil {
		return nil
	}
	for t, d := range map[PromotionType]*Details{FixedDiscount: in.FixedDiscount, PercentDiscount: in.PercentDiscount,
		ItemFixedDiscount: in.ItemFixedDiscount, ItemPercentDiscount: in.ItemPercentDiscount, XForY: in.XForY, XForAmount: in.XForAmount,
		BundleFixedDiscount: in.BundleFixedDiscount, BundleGift: in.BundleGift} {
		if d != nil {
			typed := *d
			typed.Type = t
			return &typed
		}
	}
	return nil
}

// Details is what a promotion gives. Type says which of the other members have a meaning. A schema
// is its stored form.
type Details struct {
	Type              PromotionType     `json:"-"`
	Amounts           []AmountInput     `json:"amounts,omitempty"`
	Percent           *string           `json:"percent,omitempty"` // digits; nil for none
	PercentByCurrency []CurrencyPercent `json:"percentByCurrency,omitempty"`
	Currencies        []string          `json:"currencies,omitempty"` // that it is limited to, of types without values by currency; none means all
	SKUs              []string          `json:"skus,omitzero"`        // nil means all
	X                 int               `json:"x,omitempty"`
	Y                 int               `json:"y,omitempty"`
	Gifts             []string          `json:"gifts,omitempty"` // SKUs
	Requirements      []Requirement     `json:"requirements,omitempty"`
}

// CurrencyPercent is the percentage in a currency.
type CurrencyPercent struct {
	Currency string `json:"currency"` // ISO 4217
	Percent  string `json:"percent"`  // digits
}

// detailsSchema is the schema of details.
type detailsSchema struct {
	Currencies   []currencySchema    `json:"currencies,omitzero"`
	Percent      json.RawMessage     `json:"percent,omitempty"`
	X            *int                `json:"x,omitempty"`
	Y            *int                `json:"y,omitempty"`
	Targets      []string            `json:"targets,omitzero"`
	Gifts        []string            `json:"gifts,omitzero"`
	Requirements []requirementSchema `json:"requirements,omitzero"`
}

// currencySchema is the value in a currency.
type currencySchema struct {
	Currency   string          `json:"currency"`
	Amount     *int64          `json:"amount,omitempty"`
	Percentage json.RawMessage `json:"percentage,omitempty"`
}

// requirementSchema is a part of a bundle.
type requirementSchema struct {
	Targets  []string `json:"targets,omitzero"`
	Quantity int      `json:"quantity"`
}

// Check returns the error of each text that is no number, by the paths of details.
func (d *Details) Check() (errs store.Errors) {
	for _, err := range CheckAmounts("amounts", d.Amounts) {
		errs = append(errs, err.At("details", string(d.Type)))
	}
	check := func(text string, path ...string) {
		if !isPercent(text) {
			errs = append(errs, store.Invalidf(append([]string{"details", string(d.Type)}, path...), "must be a percentage in digits, such as 12.5, got %q", store.Abbreviate(text)))
		}
	}
	if d.Percent != nil {
		check(*d.Percent, "percent")
	}
	for i, c := range d.PercentByCurrency {
		check(c.Percent, "percent_by_currency", strconv.Itoa(i), "percent")
	}
	return errs
}

// isPercent reports whether a text is a number as a schema has it.
func isPercent(text string) bool {
	if text == "" || strings.TrimSpace(text) != text {
		return false
	}
	_, ok := parsePercent([]byte(text))
	return ok
}

// Schema returns the schema of details without an error of Check. checkPromotionSchema checks the rest.
func (d *Details) Schema() json.RawMessage {
	s := detailsSchema{Targets: d.SKUs, Gifts: d.Gifts}
	if d.Amounts != nil || d.PercentByCurrency != nil {
		s.Currencies = []currencySchema{}
	}
	for _, a := range d.Amounts {
		s.Currencies = append(s.Currencies, currencySchema{Currency: a.Currency, Amount: a.Minor})
	}
	for _, currency := range d.Currencies {
		s.Currencies = append(s.Currencies, currencySchema{Currency: currency})
	}
	for _, c := range d.PercentByCurrency {
		s.Currencies = append(s.Currencies, currencySchema{Currency: c.Currency, Percentage: json.RawMessage(c.Percent)})
	}
	if d.Percent != nil {
		s.Percent = json.RawMessage(*d.Percent)
	}
	if d.Type == XForY || d.Type == XForAmount {
		s.X = &d.X
	}
	if d.Type == XForY {
		s.Y = &d.Y
	}
	if d.Requirements != nil {
		s.Requirements = []requirementSchema{}
	}
	for _, r := range d.Requirements {
		s.Requirements = append(s.Requirements, requirementSchema{r.Targets, r.Quantity})
	}
	return store.Encode(s)
}

// Details returns what the schema of the promotion says. It leaves out members that have no meaning for
// the type.
func (p *Promotion) Details() Details {
	terms := p.Terms()
	d := Details{Type: p.Type, SKUs: terms.Targets, X: terms.X, Y: terms.Y, Gifts: terms.Gifts, Requirements: terms.Requirements}
	if percent := DecodeSchema(p.Schema).Percent; percent != nil && hasPercent(p.Type) {
		d.Percent = new(percent.String())
	}
	for _, c := range p.Currencies {
		switch {
		case hasAmounts(p.Type) && c.Minor != nil:
			d.Amounts = append(d.Amounts, AmountInput{Currency: c.Currency, Minor: c.Minor})
		case hasPercent(p.Type) && c.Percentage != nil:
			d.PercentByCurrency = append(d.PercentByCurrency, CurrencyPercent{c.Currency, c.Percentage.String()})
		case !hasAmounts(p.Type) && !hasPercent(p.Type):
			d.Currencies = append(d.Currencies, c.Currency)
		}
	}
	return d
}

// RestDetails returns the type and the schema of the promotion, with their names in REST.
func (p *Promotion) RestDetails() json.RawMessage {
	return AppendMember(AppendMember([]byte("{}"), "promotion_type", store.Encode(p.Type)), "schema", p.Schema)
}

// InputLine returns the line of a promotion with the members of GraphQL's inputs: details, target_catalog_ids and item_conditions
// replace its type and its schema. A line whose schema says more than details can stays as it is.
func InputLine(line []byte) []byte {
	var source Source
	var members, schema, said map[string]json.RawMessage
	if json.Unmarshal(line, &source) != nil || json.Unmarshal(line, &members) != nil || json.Unmarshal(source.Schema, &schema) != nil {
		return line
	}
	details := NewPromotion(&source, time.Time{}).Details()
	_ = json.Unmarshal(details.Schema(), &said) // it is an object
	for name, input := range map[string]string{"target_catalogs": "target_catalog_ids", "conditions": "item_conditions"} {
		if value, has := schema[name]; has {
			members[input] = value
		}
		delete(schema, name)
	}
	if !reflect.DeepEqual(schema, said) {
		return line
	}
	delete(members, "promotion_type")
	delete(members, "schema")
	members["details"] = store.Encode(map[PromotionType]Details{details.Type: details})
	return store.Encode(members)
}

// DetailsPath converts the path of a member of a schema, after "schema", to that of the details of a type.
func DetailsPath(t PromotionType, path []string) []string {
	names := map[string]string{"percentage": "percent", "targets": "skus"}
	switch {
	case hasAmounts(t):
		names["currencies"] = "amounts"
	case hasPercent(t):
		names["currencies"] = "percent_by_currency"
	case len(path) == 3 && path[0] == "currencies": // a currency is a text
		path = path[:2]
	}
	converted := []string{"details", string(t)}
	if isBundle(t) && len(path) == 2 && path[0] == "targets" { // the older form of requirements
		return append(converted, "requirements", path[1], "skus")
	}
	for _, name := range path {
		if other, ok := names[name]; ok {
			name = other
		}
		converted = append(converted, name)
	}
	return converted
}
