package promotion

import (
	"cmp"
	"context"
	"strings"
	"time"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/promotion/rule"
)

// Filter selects promotions that match every member. A nil member, and an empty Search, matches all.
type Filter struct {
	IDs       []string
	Names     []string // exact
	NameLike  *string  // a pattern (db.NewPattern); ignores case and accents
	Types     []rule.PromotionType
	States    []rule.PromotionState // now
	Enabled   *bool
	Automatic *bool
	Search    string // parts of the name; ignores case and accents
}

// conditions returns the filter as SQL. now is in microseconds.
func (f Filter) conditions(now int64) (list []db.Condition, err error) {
	add := func(member, column string, values []string) { // the first error counts
		if len(values) > store.MaxFilterValues && err == nil {
			err = store.Unprocessablef([]string{"filter", member}, "must have at most %d values, got %d", store.MaxFilterValues, len(values))
		}
		for _, value := range values {
			if !store.IsStorableText(value) && err == nil {
				err = store.Invalidf([]string{"filter"}, "compares %s with text that contains NUL or invalid UTF-8", member)
			}
		}
		if values != nil {
			list = append(list, db.OneOf(column, values))
		}
	}
	add("id", "id", f.IDs)
	add("name", "name", f.Names)
	if f.NameLike != nil && err == nil {
		var named db.Pattern
		named, err = db.NewPattern("name", index.Fold(*f.NameLike))
		list = append(list, named.Conditions("name_folded")...)
	}
	add("promotion_type", "promotion_type", texts(f.Types))
	if f.States != nil {
		list = append(list, stateCondition(f.States, now))
	}
	if f.Enabled != nil {
		list = append(list, db.Condition{Clause: "enabled = ?", Values: []any{*f.Enabled}})
	}
	if f.Automatic != nil {
		list = append(list, db.Condition{Clause: "automatic = ?", Values: []any{*f.Automatic}})
	}
	words, searchErr := index.SearchWords(f.Search)
	return append(list, db.Containing("name_folded", words)...), cmp.Or(err, searchErr)
}

// stateCondition selects states by the rules of Promotion.StateAt.
func stateCondition(states []rule.PromotionState, now int64) (w db.Condition) {
	w.CursorName = cachekey.Each(states, func(s rule.PromotionState) cachekey.Key { return cachekey.New(string(s)) })
	clauses := []string{"FALSE"}
	for _, state := range states {
		switch state {
		case rule.PromotionExpired:
			clauses, w.Values = append(clauses, "end_at <= ?"), append(w.Values, now)
		case rule.PromotionDisabled:
			clauses, w.Values = append(clauses, "(NOT enabled AND end_at > ?)"), append(w.Values, now)
		case rule.PromotionScheduled:
			clauses, w.Values = append(clauses, "(enabled AND end_at > ? AND start_at > ?)"), append(w.Values, now, now)
		case rule.PromotionActive:
			clauses, w.Values = append(clauses, "(enabled AND end_at > ? AND start_at <= ?)"), append(w.Values, now, now)
		}
	}
	w.Clause = "(" + strings.Join(clauses, " OR ") + ")"
	return w
}

// texts returns values as texts; nil for nil.
func texts[T ~string](values []T) []string {
	if values == nil {
		return nil
	}
	list := make([]string, len(values))
	for i, value := range values {
		list[i] = string(value)
	}
	return list
}

// WarnOfIgnored returns a warning if there are more automatic promotions than a cart considers, else nil.
func (s *Service) WarnOfIgnored(ctx context.Context) (*store.Error, error) {
	ignored, _, err := db.One(ctx, s.db.Reader, db.Scalar[int], `SELECT COUNT(*) FROM (`+rule.IgnoredAutomaticSQL(s.db.Now())+`) AS ignored`)
	if err != nil || ignored == 0 {
		return nil, err
	}
	return store.Unprocessablef([]string{"automatic"}, "is set on %d promotions that have not ended, and a cart considers the %d of them that end first; disable those that are no longer needed",
		ignored+rule.MaxAutomatic, rule.MaxAutomatic), nil
}

// List lists the promotions that match a filter, by id unless the query sorts otherwise. It
// returns INVALID or UNPROCESSABLE for an invalid filter.
func (s *Service) List(ctx context.Context, filter Filter, query store.ListQuery) (*store.Slice[*rule.Promotion], error) {
	l := PromotionList(s.db.Now())
	var err error
	if l.Conditions, err = filter.conditions(store.Micros(s.db.Now())); err != nil {
		return nil, err
	}
	return db.List(ctx, s.db, l, query)
}

// Get returns a promotion, or NOT_FOUND.
func (s *Service) Get(ctx context.Context, id string) (*rule.Promotion, error) {
	return rule.FindPromotion(ctx, s.db, id)
}

// ByID returns promotions by id. It omits unknown ids.
func (s *Service) ByID(ctx context.Context, ids []string) (map[string]*rule.Promotion, error) {
	return rule.FindPromotions(ctx, s.db, ids)
}

// PromotionList lists promotions, with their state at a time.
func PromotionList(now time.Time) db.Listing[*rule.Promotion] {
	return db.Listing[*rule.Promotion]{
		Name: "promotion", Columns: rule.PromotionColumns, Table: "promotion", ID: "id", Orders: map[store.SortBy][]string{store.SortName: {"name_key"}}, Scan: rule.ScanPromotion(now),
		Key: func(p *rule.Promotion, sort store.Sort) []any {
			switch sort.By {
			case store.SortCreatedAt:
				return []any{store.Micros(p.CreatedAt), p.ID}
			case store.SortUpdatedAt:
				return []any{store.Micros(p.UpdatedAt), p.ID}
			case store.SortName:
				return []any{index.SortKey(p.Name), p.ID}
			}
			return []any{p.ID}
		},
	}
}
