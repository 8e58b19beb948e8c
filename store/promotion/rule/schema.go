package rule

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/authoring"
)

// promotionSchema holds the members of a schema that are the same for all types.
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

// termsSchema holds the members of a schema that Terms reads.
type termsSchema struct {
	Targets      json.RawMessage `json:"targets"`
	X            int             `json:"x"`
	Y            int             `json:"y"`
	Gifts        []string        `json:"gifts"`
	Quantities   []int           `json:"quantities"`
	Requirements []struct {
		Targets  json.RawMessage `json:"targets"`
		Quantity int             `json:"quantity"`
	} `json:"requirements"`
}

// knownSchema has all members of a schema.
type knownSchema struct {
	promotionSchema
	termsSchema
}

// DecodeSchema decodes a checked schema.
func DecodeSchema(raw json.RawMessage) (s promotionSchema) {
	_ = store.DecodeJSON(raw, &s) // an old schema that fails today's checks is decoded as far as possible
	return s
}

// checkPromotionSchema checks a schema for a type: unknown members, then those that the type requires, then the form of each. Null
// counts as absent, and so do targets "all".
func checkPromotionSchema(f *authoring.Validator, t PromotionType, raw json.RawMessage) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return // mergeIntoSchema reports it
	}
	for _, unknown := range store.UnknownMembers(raw, reflect.TypeFor[knownSchema]()) {
		f.Errors = append(f.Errors, unknown.At("schema"))
	}
	for name, value := range m {
		if string(value) == "null" || name == "targets" && string(value) == allTargets {
			delete(m, name)
		}
	}
	for _, name := range requiredMembers(t) {
		switch {
		case m[name] != nil:
		case name == "targets":
			f.Rule("schema.targets", "is required for %s: a list of SKUs", t)
		default:
			f.Rule("schema."+name, "is required for %s", t)
		}
	}
	if t == PercentDiscount && m["percent"] == nil && m["currencies"] == nil {
		f.Rule("schema.percent", "is required for %s, or currencies with a percentage each", t)
	}
	checkPromotionCurrencies(f, t, m["currencies"], m["percent"] != nil)
	checkPercent(f, "schema.percent", m["percent"])
	checkPromotionTargets(f, t, m)
	f.Strings("schema.gifts", m["gifts"], t == BundleGift)
	checkAtMost(f, "schema.gifts", m["gifts"], maxGifts)
	f.Strings("schema.target_catalogs", m["target_catalogs"], false)
	x, y := f.Count("schema.x", m["x"]), f.Count("schema.y", m["y"])
	if t == XForY && x > 0 && y > 0 && x <= y {
		f.Rule("schema.x", "must be more than y, %d, got %d", y, x)
	}
	if conditions := m["conditions"]; conditions != nil {
		left := maxConditions
		checkCondition(f, "schema.conditions", conditions, maxConditionDepth, &left)
	}
}

// checkPromotionCurrencies checks the values by currency. Each currency must occur once. percent is true if the schema has one for all
// currencies.
func checkPromotionCurrencies(f *authoring.Validator, t PromotionType, raw json.RawMessage, percent bool) {
	const member = "schema.currencies"
	items, ok := f.Array(member, raw)
	if !ok {
		return
	}
	amounts := hasAmounts(t)
	if len(items) == 0 && (amounts || t == PercentDiscount && !percent) {
		f.Rule(member, "must have at least one currency for %s", t)
	}
	seen := map[string]bool{}
	for i, item := range items {
		at := member + "." + strconv.Itoa(i)
		var c map[string]json.RawMessage
		if json.Unmarshal(item, &c) != nil || c == nil {
			f.Add(at, "must be an object, got %s", authoring.JSONKind(item))
			continue
		}
		var code string
		_ = json.Unmarshal(c["currency"], &code)
		f.Currency(at+".currency", code)
		if seen[code] {
			f.Rule(at+".currency", "must occur only once: %q", store.Abbreviate(code))
		}
		seen[code] = true
		checkCurrencyValue(f, at, t, c, amounts, percent)
	}
}

// checkCurrencyValue checks the amount and the percentage of a currency, whose members are c. amounts is true if the type has amounts.
func checkCurrencyValue(f *authoring.Validator, at string, t PromotionType, c map[string]json.RawMessage, amounts, percent bool) {
	amount, percentage := c["amount"], c["percentage"]
	if amount != nil {
		f.Whole(at+".amount", amount, "a whole number of minor units", 0, store.MaxAmount)
	}
	checkPercent(f, at+".percentage", percentage)
	if amounts && amount == nil {
		f.Rule(at+".amount", "is required for %s", t)
	}
	if t == PercentDiscount && !percent && percentage == nil {
		f.Rule(at+".percentage", "is required for %s, or a percent for all currencies", t)
	}
}

// checkPercent checks that a percentage is above 0 and at most 100.
func checkPercent(f *authoring.Validator, member string, raw json.RawMessage) {
	if raw == nil {
		return
	}
	p, ok := parsePercent(raw)
	switch {
	case !ok:
		f.Add(member, "must be a number such as 12.5, got %s", authoring.JSONKind(raw))
	case p.Sign() <= 0 || p.Cmp(big.NewRat(100, 1)) > 0:
		f.Rule(member, "must be more than 0 and at most 100, got %s", store.Abbreviate(string(raw)))
	}
}

// parsePercent parses a JSON number exactly. It accepts no exponent.
func parsePercent(raw []byte) (*big.Rat, bool) {
	var number json.Number
	if len(raw) > 32 || raw[0] == '"' || json.Unmarshal(raw, &number) != nil || strings.ContainsAny(string(raw), "eE") {
		return nil, false
	}
	return new(big.Rat).SetString(number.String())
}

// allTargets in place of SKUs means all products, as absent targets do for types that do not
// require them.
const allTargets = `"all"`

// checkPromotionTargets checks the SKUs that a promotion applies to: a list, or the parts of a
// bundle.
func checkPromotionTargets(f *authoring.Validator, t PromotionType, m map[string]json.RawMessage) {
	if !isBundle(t) {
		f.Strings("schema.targets", m["targets"], t == XForY || t == XForAmount)
		return
	}
	switch {
	case m["requirements"] == nil && m["targets"] == nil:
		f.Rule("schema.requirements", "is required for %s, or targets with quantities", t)
	case m["requirements"] != nil && m["targets"] != nil:
		f.Rule("schema.targets", "must be absent with requirements, which have targets of their own")
	case m["requirements"] == nil && m["quantities"] == nil:
		f.Rule("schema.quantities", "is required for %s, or requirements in place of targets", t)
	}
	checkRequirements(f, t, m["requirements"])
	checkTargetGroups(f, t, m["targets"], m["quantities"])
}

// Limits of a bundle. The work for a cart grows with their product.
const (
	maxParts = 100
	maxGifts = 100
)

// checkAtMost limits the length of a list.
func checkAtMost(f *authoring.Validator, member string, raw json.RawMessage, most int) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) == nil && len(items) > most {
		f.Rule(member, "must have at most %d items, got %d", most, len(items))
	}
}

// checkRequirements checks the parts of a bundle, each a quantity of some SKUs.
func checkRequirements(f *authoring.Validator, t PromotionType, raw json.RawMessage) {
	items, ok := f.Array("schema.requirements", raw)
	checkAtMost(f, "schema.requirements", raw, maxParts)
	if ok && len(items) == 0 {
		f.Add("schema.requirements", "must have at least one part for %s", t)
	}
	for i, item := range items {
		at := "schema.requirements." + strconv.Itoa(i)
		var part map[string]json.RawMessage
		if json.Unmarshal(item, &part) != nil || part == nil {
			f.Add(at, "must be an object, got %s", authoring.JSONKind(item))
			continue
		}
		if targets := part["targets"]; string(targets) != allTargets && string(targets) != "null" {
			f.Strings(at+".targets", targets, true)
		}
		if part["quantity"] == nil {
			f.Rule(at+".quantity", "is required")
		}
		f.Count(at+".quantity", part["quantity"])
	}
}

// checkTargetGroups checks the older form of the parts: a list of lists of SKUs, and a quantity
// for each.
func checkTargetGroups(f *authoring.Validator, t PromotionType, targets, quantities json.RawMessage) {
	groups, ok := f.Array("schema.targets", targets)
	checkAtMost(f, "schema.targets", targets, maxParts)
	for i, group := range groups {
		f.Strings("schema.targets."+strconv.Itoa(i), group, true)
	}
	if ok && len(groups) == 0 {
		f.Add("schema.targets", "must have at least one list of SKUs for %s", t)
	}
	counts, counted := f.Array("schema.quantities", quantities)
	for i, count := range counts {
		f.Count("schema.quantities."+strconv.Itoa(i), count)
	}
	if ok && counted && len(groups) != len(counts) {
		f.Rule("schema.quantities", "must have one quantity for each of the %d targets, got %d", len(groups), len(counts))
	}
}

// checkPerCurrency checks amounts, at most one for each currency.
func checkPerCurrency(f *authoring.Validator, member string, values []amountSource) {
	seen := map[string]bool{}
	for i, value := range values {
		at := member + "." + strconv.Itoa(i)
		if value.Currency == "" {
			f.Rule(at+".currency", "is required")
		} else {
			f.Currency(at+".currency", value.Currency)
		}
		if value.Amount == nil {
			f.Rule(at+".amount", "is required, in minor units")
		} else {
			f.Within(at+".amount", *value.Amount, 0, store.MaxAmount)
		}
		if seen[value.Currency] {
			f.Rule(at+".currency", "must occur only once: %q", store.Abbreviate(value.Currency))
		}
		seen[value.Currency] = true
	}
}
