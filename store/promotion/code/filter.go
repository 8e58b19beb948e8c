package code

import (
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// State follows from a code's uses and the end of its promotion.
type State string

// The states of a code, of which each has one.
const (
	CodeAvailable State = "available" // uses remain, and the promotion has not ended
	CodeSpent     State = "used_up"   // no uses remain
	CodeEnded     State = "expired"   // uses remain, but the promotion has ended
)

// States lists every state.
func States() []State { return []State{CodeAvailable, CodeSpent, CodeEnded} }

// State is the code's state at the time it was read.
func (c *PromotionCode) State() State {
	switch {
	case c.MaxUses != nil && c.Used >= *c.MaxUses:
		return CodeSpent
	case c.Promotion.State == rule.PromotionExpired:
		return CodeEnded
	}
	return CodeAvailable
}

// Filter selects codes that match every member. An empty member matches all.
type Filter struct {
	Codes     []string      // without regard to case if the settings say so; nil is any
	Prefix    string        // of the code, case-sensitive
	States    []State       // nil is any
	CreatedAt []store.Range // on SortCreatedAt
}

// check checks the filter and returns the order of the list. It drops codes that no row can have. A prefix is read in the order of
// codes and a time of creation in the order of creation, so that a page reads no codes of others. So another order is INVALID,
// unless the filter has codes, or both or neither of the two.
func (f *Filter) check(sort store.Sort) (store.Sort, error) {
	if len(f.Codes) > store.MaxFilterValues {
		return sort, store.Unprocessablef([]string{"filter", "code"}, "must have at most %d values, got %d", store.MaxFilterValues, len(f.Codes))
	}
	if !slices.ContainsFunc(f.Codes, store.IsStorableText) && len(f.Codes) > 0 || !store.IsStorableText(f.Prefix) {
		return sort, store.Invalidf([]string{"filter"}, "compares code with text that contains NUL or invalid UTF-8")
	}
	f.Codes = slices.DeleteFunc(slices.Clone(f.Codes), func(code string) bool { return !store.IsStorableText(code) })
	if f.Codes != nil || (f.Prefix == "") == (len(f.CreatedAt) == 0) {
		return sort, nil
	}
	switch byCreation := sort.By == store.SortCreatedAt; {
	case f.Prefix != "" && byCreation:
		return sort, store.Invalidf([]string{"order_by"}, "must be by code if the filter has a prefix and no times")
	case f.Prefix == "" && sort.By != store.SortDefault && !byCreation:
		return sort, store.Invalidf([]string{"order_by"}, "must be by time of creation if the filter has times and no prefix")
	case f.Prefix == "":
		sort.By = store.SortCreatedAt
	}
	return sort, nil
}

// maxCodeCharacter is after every character of a code.
const maxCodeCharacter = "\U0010FFFF"

// Conditions returns the filter as SQL for a promotion in a state, without the bounds of CreatedAt.
func (f *Filter) Conditions(promotion rule.PromotionState) (list []db.Condition) {
	if f.Codes != nil {
		list = append(list, db.OneOf("promotion_code.code", f.Codes))
	}
	if f.Prefix != "" {
		list = append(list, db.Condition{Clause: "promotion_code.code >= ? AND promotion_code.code < ?", Values: []any{f.Prefix, f.Prefix + maxCodeCharacter}})
	}
	if f.States == nil {
		return list
	}
	left, spent := slices.Contains(f.States, CodeAvailable), slices.Contains(f.States, CodeSpent)
	if promotion == rule.PromotionExpired {
		left = slices.Contains(f.States, CodeEnded)
	}
	states := db.Condition{CursorName: cachekey.Each(f.States, func(s State) cachekey.Key { return cachekey.New(string(s)) })}
	switch {
	case left && spent:
		states.Clause = "TRUE"
	case left || spent:
		states.Clause, states.Values = "promotion_code.used_up = ?", []any{spent}
	default:
		states.Clause = "FALSE"
	}
	return append(list, states)
}
