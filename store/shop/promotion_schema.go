package shop

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"portico/store"
)

// promotionSchema is what a promotion's schema is known to hold; members
// beside these are kept and mean nothing here.
type promotionSchema struct {
	Currencies []struct {
		Currency   string       `json:"currency"`
		Amount     *int64       `json:"amount"`     // minor units
		Percentage *json.Number `json:"percentage"` // percent
	} `json:"currencies"`
	Percent        *json.Number    `json:"percent"`
	TargetCatalogs []string        `json:"target_catalogs"`
	Conditions     json.RawMessage `json:"conditions"`
}

// decodePromotionSchema reads a checked schema.
func decodePromotionSchema(raw json.RawMessage) (s promotionSchema) {
	_ = DecodeJSON(raw, &s) // what was imported before it was checked as it is now reads as far as it goes
	return s
}

// promotionSchema finds what is wrong with a schema for a type.
func (f *faults) promotionSchema(t PromotionType, raw json.RawMessage) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return // which is told already
	}
	for name, value := range m {
		if string(value) == "null" || name == "targets" && string(value) == everyTarget {
			delete(m, name)
		}
	}
	for _, name := range promotionTypeOf(t).needs {
		switch {
		case m[name] != nil:
		case name == "targets":
			f.add("schema.targets", "is required for %s: a list of SKUs", t)
		default:
			f.add("schema."+name, "is required for %s", t)
		}
	}
	if t == PercentDiscount && m["percent"] == nil && m["currencies"] == nil {
		f.add("schema.percent", "is required for %s, or currencies with a percentage each", t)
	}
	f.promotionCurrencies(t, m["currencies"], m["percent"] != nil)
	f.percent("schema.percent", m["percent"])
	f.promotionTargets(t, m)
	f.strings("schema.gifts", m["gifts"], t == BundleGift)
	f.strings("schema.target_catalogs", m["target_catalogs"], false)
	x, y := f.count("schema.x", m["x"]), f.count("schema.y", m["y"])
	if t == XForY && x > 0 && y > 0 && x <= y {
		f.rule("schema.x", "must be more than y, %d, not %d", y, x)
	}
	if conditions := m["conditions"]; conditions != nil {
		left := maxConditions
		f.condition("schema.conditions", conditions, maxConditionDepth, &left)
	}
}

// promotionCurrencies checks what is given in each currency, once each.
func (f *faults) promotionCurrencies(t PromotionType, raw json.RawMessage, percent bool) {
	const member = "schema.currencies"
	items, ok := f.array(member, raw)
	if !ok {
		return
	}
	amounts := slices.Contains([]PromotionType{FixedDiscount, ItemFixedDiscount, XForAmount, BundleFixedDiscount}, t)
	if len(items) == 0 && (amounts || t == PercentDiscount && !percent) {
		f.add(member, "must have at least one currency for %s", t)
	}
	seen := map[string]bool{}
	for i, item := range items {
		at := member + "." + strconv.Itoa(i)
		var c map[string]json.RawMessage
		if json.Unmarshal(item, &c) != nil || c == nil {
			f.add(at, "must be an object, not %s", jsonKind(item))
			continue
		}
		var code string
		_ = json.Unmarshal(c["currency"], &code)
		f.currency(at+".currency", code)
		if seen[code] {
			f.rule(at+".currency", "is there twice: %q", store.Short(code))
		}
		seen[code] = true
		f.given(at, t, c, amounts, percent)
	}
}

// given checks what one currency gives.
func (f *faults) given(at string, t PromotionType, c map[string]json.RawMessage, amounts, percent bool) {
	amount, percentage := c["amount"], c["percentage"]
	if amount != nil {
		n, err := parseWhole(amount)
		if err != nil {
			f.add(at+".amount", "must be a whole number of minor units, not %s", jsonKind(amount))
		} else {
			f.within(at+".amount", n, 0, store.MaxAmount)
		}
	}
	f.percent(at+".percentage", percentage)
	if amounts && amount == nil {
		f.add(at+".amount", "is required for %s", t)
	}
	if t == PercentDiscount && !percent && percentage == nil {
		f.add(at+".percentage", "is required for %s, or a percent for all currencies", t)
	}
}

// percent takes more than 0 and at most 100.
func (f *faults) percent(member string, raw json.RawMessage) {
	if raw == nil {
		return
	}
	p, ok := percentOf(raw)
	switch {
	case !ok:
		f.add(member, "must be a number such as 12.5, not %s", jsonKind(raw))
	case p.Sign() <= 0 || p.Cmp(big.NewRat(100, 1)) > 0:
		f.rule(member, "must be more than 0 and at most 100, not %s", store.Short(string(raw)))
	}
}

// percentOf reads a number of JSON exactly; a great exponent is none.
func percentOf(raw []byte) (*big.Rat, bool) {
	var number json.Number
	if len(raw) > 32 || raw[0] == '"' || json.Unmarshal(raw, &number) != nil || strings.ContainsAny(string(raw), "eE") {
		return nil, false
	}
	return new(big.Rat).SetString(number.String())
}

// everyTarget in place of SKUs is as none, which is all of them where a type
// can do without.
const everyTarget = `"all"`

// promotionTargets checks the SKUs that a promotion is for: a list, and the
// parts of a bundle.
func (f *faults) promotionTargets(t PromotionType, m map[string]json.RawMessage) {
	if t != BundleFixedDiscount && t != BundleGift {
		f.strings("schema.targets", m["targets"], t == XForY || t == XForAmount)
		return
	}
	switch {
	case m["requirements"] == nil && m["targets"] == nil:
		f.add("schema.requirements", "is required for %s, or targets with quantities", t)
	case m["requirements"] != nil && m["targets"] != nil:
		f.rule("schema.targets", "must be left out where there are requirements, which have targets of their own")
	case m["requirements"] == nil && m["quantities"] == nil:
		f.add("schema.quantities", "is required for %s, or requirements in place of targets", t)
	}
	f.requirements(t, m["requirements"])
	f.targetGroups(t, m["targets"], m["quantities"])
}

// requirements checks the parts of a bundle, each so many of some SKUs.
func (f *faults) requirements(t PromotionType, raw json.RawMessage) {
	items, ok := f.array("schema.requirements", raw)
	if ok && len(items) == 0 {
		f.add("schema.requirements", "must have at least one part for %s", t)
	}
	for i, item := range items {
		at := "schema.requirements." + strconv.Itoa(i)
		var part map[string]json.RawMessage
		if json.Unmarshal(item, &part) != nil || part == nil {
			f.add(at, "must be an object, not %s", jsonKind(item))
			continue
		}
		if targets := part["targets"]; string(targets) != everyTarget && string(targets) != "null" {
			f.strings(at+".targets", targets, true)
		}
		if part["quantity"] == nil {
			f.add(at+".quantity", "is required")
		}
		f.count(at+".quantity", part["quantity"])
	}
}

// targetGroups checks the same parts as a list of lists, with a quantity for
// each.
func (f *faults) targetGroups(t PromotionType, targets, quantities json.RawMessage) {
	groups, ok := f.array("schema.targets", targets)
	for i, group := range groups {
		f.strings("schema.targets."+strconv.Itoa(i), group, true)
	}
	if ok && len(groups) == 0 {
		f.add("schema.targets", "must have at least one list of SKUs for %s", t)
	}
	counts, counted := f.array("schema.quantities", quantities)
	for i, count := range counts {
		f.count("schema.quantities."+strconv.Itoa(i), count)
	}
	if ok && counted && len(groups) != len(counts) {
		f.rule("schema.quantities", "must have one quantity for each of the %d targets, not %d", len(groups), len(counts))
	}
}

// The helpers below pass over a member that is not there.

func (f *faults) array(member string, raw json.RawMessage) (items []json.RawMessage, ok bool) {
	if raw == nil {
		return nil, false
	}
	if json.Unmarshal(raw, &items) != nil || items == nil {
		f.add(member, "must be an array, not %s", jsonKind(raw))
		return nil, false
	}
	return items, true
}

func (f *faults) strings(member string, raw json.RawMessage, some bool) {
	items, ok := f.array(member, raw)
	for i, item := range items {
		var text string
		if bytes.Equal(item, []byte("null")) || json.Unmarshal(item, &text) != nil {
			f.add(member+"."+strconv.Itoa(i), "must be a string, not %s", jsonKind(item))
			continue
		}
		f.required(member+"."+strconv.Itoa(i), text, maxName)
	}
	if ok && some && len(items) == 0 {
		f.add(member, "must not be empty")
	}
}

// count takes a whole number of at least 1; it is 0 where there is none.
func (f *faults) count(member string, raw json.RawMessage) int64 {
	if raw == nil {
		return 0
	}
	n, err := parseWhole(raw)
	if err != nil {
		f.add(member, "must be a whole number, not %s", jsonKind(raw))
		return 0
	}
	f.within(member, n, 1, MaxStock)
	return n
}

// rule tells that a well-formed member breaks a rule.
func (f *faults) rule(member, format string, args ...any) {
	f.list = append(f.list, store.Unprocessablef(strings.Split(member, "."), format, args...))
}

func (f *faults) within(member string, n, least, most int64) {
	if n < least || n > most {
		f.rule(member, "must be between %d and %d, not %d", least, most, n)
	}
}

// perCurrency takes one amount for each currency.
func (f *faults) perCurrency(member string, values []amountSource) {
	seen := map[string]bool{}
	for i, value := range values {
		at := member + "." + strconv.Itoa(i)
		if value.Currency == "" {
			f.rule(at+".currency", "is required")
		} else {
			f.currency(at+".currency", value.Currency)
		}
		if value.Amount == nil {
			f.rule(at+".amount", "is required, in minor units")
		} else {
			f.within(at+".amount", *value.Amount, 0, store.MaxAmount)
		}
		if seen[value.Currency] {
			f.rule(at+".currency", "is there twice: %q", store.Short(value.Currency))
		}
		seen[value.Currency] = true
	}
}
