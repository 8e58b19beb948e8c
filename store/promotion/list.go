package promotion

import (
	"context"
	"fmt"
	"strings"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/promotion/rule"
)

// PromotionFilter keeps promotions that fit every member; an empty one fits
// all.
type PromotionFilter struct {
	IDs       []string
	Names     []string // as they are written
	NameLike  *string  // a pattern, which NewPattern reads; case and accents do not count
	Types     []rule.PromotionType
	States    []rule.PromotionState // now
	Enabled   *bool
	Automatic *bool
	Search    string // words, each of which is in the name; case and accents do not count
}

func (f PromotionFilter) within(now int64) (list []db.Condition, err error) {
	add := func(member, column string, values []any) {
		if len(values) > store.MaxFilterValues && err == nil {
			err = store.Unprocessablef([]string{"filter", member}, "has %d values; at most %d are taken", len(values), store.MaxFilterValues)
		}
		for _, value := range values {
			if text, ok := value.(string); ok && !store.IsStorableText(text) && err == nil {
				err = store.Invalidf([]string{"filter"}, "compares %s with text that contains NUL or invalid UTF-8", member)
			}
		}
		if len(values) > 0 {
			places, all := db.InList(nil, values)
			list = append(list, db.Condition{Clause: column + " IN (?" + strings.Repeat(",?", strings.Count(places, ",")) + ")", Values: all})
		}
	}
	add("id", "id", anyOf(f.IDs))
	add("name", "name", anyOf(f.Names))
	if f.NameLike != nil && err == nil {
		var named db.Pattern
		named, err = db.NewPattern("name", index.Fold(*f.NameLike))
		list = append(list, named.Conditions("name_folded")...)
	}
	add("promotion_type", "promotion_type", anyOf(f.Types))
	if len(f.States) > 0 {
		list = append(list, statesWithin(f.States, now))
	}
	if f.Enabled != nil {
		list = append(list, db.Condition{Clause: "enabled = ?", Values: []any{*f.Enabled}})
	}
	if f.Automatic != nil {
		list = append(list, db.Condition{Clause: "automatic = ?", Values: []any{*f.Automatic}})
	}
	search, searchErr := index.NewSearch(f.Search)
	if err == nil {
		err = searchErr
	}
	if !search.Empty() {
		for word := range strings.FieldsSeq(index.Fold(f.Search)) { // a part of a word will do
			list = append(list, db.Condition{Clause: "REPLACE(name_folded, CAST(? AS TEXT), '') <> name_folded", Values: []any{word}})
		}
	}
	return list, err
}

// statesWithin are the states as Promotion.StateAt tells them.
func statesWithin(states []rule.PromotionState, now int64) (w db.Condition) {
	w.CursorName = fmt.Sprint("state", states)
	var clauses []string
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

func anyOf[T ~string](values []T) []any {
	list := make([]any, len(values))
	for i, value := range values {
		list[i] = string(value)
	}
	return list
}

// Promotions lists promotions that fit a filter, by id unless the query sorts
// otherwise. INVALID or UNPROCESSABLE for a filter that cannot be.
func (s *PromotionService) Promotions(ctx context.Context, filter PromotionFilter, query store.ListQuery) (*store.Slice[*rule.Promotion], error) {
	l := PromotionList(s.db.Now())
	var err error
	if l.Conditions, err = filter.within(store.Micros(s.db.Now())); err != nil {
		return nil, err
	}
	return db.List(ctx, s.db, l, query)
}

// Promotion returns a promotion; NOT_FOUND when there is none.
func (s *PromotionService) Promotion(ctx context.Context, id string) (*rule.Promotion, error) {
	return rule.FindPromotion(ctx, s.db, id)
}

// PromotionsByID returns several promotions; an unknown one is left out.
func (s *PromotionService) PromotionsByID(ctx context.Context, ids []string) (map[string]*rule.Promotion, error) {
	return rule.FindPromotions(ctx, s.db, ids)
}

func PromotionList(now time.Time) db.Listing[*rule.Promotion] {
	return db.Listing[*rule.Promotion]{
		Name: "promotion", Columns: rule.PromotionColumns, Table: "promotion", ID: "id", NameColumn: "name_key", Scan: rule.ScanPromotion(now),
		Key: func(p *rule.Promotion, sort store.Sort) []any {
			switch sort.By {
			case store.SortCreatedAt:
				return []any{store.Micros(p.CreatedAt), p.ID}
			case store.SortUpdatedAt:
				return []any{store.Micros(p.UpdatedAt), p.ID}
			case store.SortName:
				return []any{nameKey(p.Name), p.ID}
			}
			return []any{p.ID}
		},
	}
}
