package shop

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"portico/store"
)

// PromotionFilter keeps promotions that fit every member; an empty one fits
// all.
type PromotionFilter struct {
	IDs       []string
	Names     []string // as they are written
	NameLike  *string  // a pattern, which newPattern reads; case and accents do not count
	Types     []PromotionType
	States    []PromotionState // now
	Enabled   *bool
	Automatic *bool
	Search    string // words, each of which is in the name; case and accents do not count
}

func (f PromotionFilter) within(now int64) (list []within, err error) {
	add := func(member, column string, values []any) {
		if len(values) > store.MaxFilterValues && err == nil {
			err = store.Unprocessablef([]string{"filter", member}, "has %d values; at most %d are taken", len(values), store.MaxFilterValues)
		}
		for _, value := range values {
			if text, ok := value.(string); ok && !store.CleanText(text) && err == nil {
				err = store.Invalidf([]string{"filter"}, "compares %s with text that is not UTF-8 without NUL", member)
			}
		}
		if len(values) > 0 {
			places, all := in(nil, values)
			list = append(list, within{column + " IN (?" + strings.Repeat(",?", strings.Count(places, ",")) + ")", all})
		}
	}
	add("id", "id", anyOf(f.IDs))
	add("name", "name", anyOf(f.Names))
	if f.NameLike != nil && err == nil {
		var named pattern
		named, err = newPattern("name", fold(*f.NameLike))
		list = append(list, named.within("name_folded")...)
	}
	add("promotionType", "promotion_type", anyOf(f.Types))
	if len(f.States) > 0 {
		list = append(list, statesWithin(f.States, now))
	}
	if f.Enabled != nil {
		list = append(list, within{"enabled = ?", []any{*f.Enabled}})
	}
	if f.Automatic != nil {
		list = append(list, within{"automatic = ?", []any{*f.Automatic}})
	}
	search, searchErr := NewSearch(f.Search)
	if err == nil {
		err = searchErr
	}
	if !search.Empty() {
		for word := range strings.FieldsSeq(fold(f.Search)) { // a part of a word will do
			list = append(list, within{"REPLACE(name_folded, CAST(? AS TEXT), '') <> name_folded", []any{word}})
		}
	}
	return list, err
}

// statesWithin are the states as Promotion.StateAt tells them.
func statesWithin(states []PromotionState, now int64) (w within) {
	var clauses []string
	for _, state := range states {
		switch state {
		case PromotionExpired:
			clauses, w.values = append(clauses, "end_at <= ?"), append(w.values, now)
		case PromotionDisabled:
			clauses, w.values = append(clauses, "(NOT enabled AND end_at > ?)"), append(w.values, now)
		case PromotionScheduled:
			clauses, w.values = append(clauses, "(enabled AND end_at > ? AND start_at > ?)"), append(w.values, now, now)
		case PromotionActive:
			clauses, w.values = append(clauses, "(enabled AND end_at > ? AND start_at <= ?)"), append(w.values, now, now)
		}
	}
	w.clause = "(" + strings.Join(clauses, " OR ") + ")"
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
func (s *Store) Promotions(ctx context.Context, filter PromotionFilter, query store.ListQuery) (*store.Slice[*Promotion], error) {
	l := s.promotionList()
	var err error
	if l.within, err = filter.within(store.Micros(s.now())); err != nil {
		return nil, err
	}
	return list(ctx, s, l, query)
}

func (s *Store) promotionList() listing[*Promotion] {
	return listing[*Promotion]{
		name: "promotion", columns: promotionColumns, table: "promotion", id: "id", named: "name_key", scan: scanPromotion(s.now()),
		key: func(p *Promotion, sort store.Sort) []any {
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

// SortCode sorts codes byte by byte.
const SortCode store.SortBy = "code"

// PromotionCodes lists a promotion's codes, by code unless sorted by
// SortCreatedAt; codes keeps to those, where there are any. NOT_FOUND when
// there is no such promotion.
func (s *Store) PromotionCodes(ctx context.Context, promotionID string, codes []string, sort store.Sort, page store.Page) (*store.Slice[*PromotionCode], error) {
	p, err := s.Promotion(ctx, promotionID)
	if err != nil {
		return nil, err
	}
	if len(codes) > store.MaxFilterValues {
		return nil, store.Unprocessablef([]string{"filter", "code"}, "has %d values; at most %d are taken", len(codes), store.MaxFilterValues)
	}
	if !slices.ContainsFunc(codes, store.CleanText) && len(codes) > 0 {
		return nil, store.Invalidf([]string{"filter"}, "compares code with text that is not UTF-8 without NUL")
	}
	codes = slices.DeleteFunc(slices.Clone(codes), func(code string) bool { return !store.CleanText(code) })
	l := codeList(p)
	if len(codes) > 0 {
		places, all := in(nil, anyOf(codes))
		l.within = append(l.within, within{"promotion_code.code IN (?" + strings.Repeat(",?", strings.Count(places, ",")) + ")", all})
	}
	return list(ctx, s, l, store.ListQuery{Sort: sort, Page: page})
}

func codeList(p *Promotion) listing[*PromotionCode] {
	return listing[*PromotionCode]{
		name: "promotion_code", id: "promotion_code.code", prefix: "promotion_code.",
		columns: codeColumns,
		table:   `promotion_code LEFT JOIN code_claim ON code_claim.code = promotion_code.code`,
		counted: `promotion_code`,
		within: []within{
			{"promotion_code.promotion_number = ?", []any{p.number}},
			{"promotion_code.epoch = ?", []any{p.epoch}},
		},
		scan: func(rows *sql.Rows) (*PromotionCode, error) { return scanCode(rows, p) },
		key: func(c *PromotionCode, sort store.Sort) []any {
			if sort.By != store.SortCreatedAt {
				return []any{c.Code}
			}
			if c.CreatedAt == nil {
				return []any{0, c.Code}
			}
			return []any{store.Micros(*c.CreatedAt), c.Code}
		},
	}
}
