package promotion

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// PromotionFilter keeps promotions that fit every member; an empty one fits
// all.
type PromotionFilter struct {
	IDs       []string
	Names     []string // as they are written
	NameLike  *string  // a pattern, which NewPattern reads; case and accents do not count
	Types     []PromotionType
	States    []PromotionState // now
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
func statesWithin(states []PromotionState, now int64) (w db.Condition) {
	w.CursorName = fmt.Sprint("state", states)
	var clauses []string
	for _, state := range states {
		switch state {
		case PromotionExpired:
			clauses, w.Values = append(clauses, "end_at <= ?"), append(w.Values, now)
		case PromotionDisabled:
			clauses, w.Values = append(clauses, "(NOT enabled AND end_at > ?)"), append(w.Values, now)
		case PromotionScheduled:
			clauses, w.Values = append(clauses, "(enabled AND end_at > ? AND start_at > ?)"), append(w.Values, now, now)
		case PromotionActive:
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
func (s *PromotionService) Promotions(ctx context.Context, filter PromotionFilter, query store.ListQuery) (*store.Slice[*Promotion], error) {
	l := PromotionList(s.db.Now())
	var err error
	if l.Conditions, err = filter.within(store.Micros(s.db.Now())); err != nil {
		return nil, err
	}
	return db.List(ctx, s.db, l, query)
}

func PromotionList(now time.Time) db.Listing[*Promotion] {
	return db.Listing[*Promotion]{
		Name: "promotion", Columns: promotionColumns, Table: "promotion", ID: "id", NameColumn: "name_key", Scan: scanPromotion(now),
		Key: func(p *Promotion, sort store.Sort) []any {
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
func (s *PromotionService) PromotionCodes(ctx context.Context, promotionID string, codes []string, sort store.Sort, page store.Page) (*store.Slice[*PromotionCode], error) {
	p, err := s.Promotion(ctx, promotionID)
	if err != nil {
		return nil, err
	}
	if len(codes) > store.MaxFilterValues {
		return nil, store.Unprocessablef([]string{"filter", "code"}, "has %d values; at most %d are taken", len(codes), store.MaxFilterValues)
	}
	if !slices.ContainsFunc(codes, store.IsStorableText) && len(codes) > 0 {
		return nil, store.Invalidf([]string{"filter"}, "compares code with text that contains NUL or invalid UTF-8")
	}
	codes = slices.DeleteFunc(slices.Clone(codes), func(code string) bool { return !store.IsStorableText(code) })
	l := codeList(p)
	if len(codes) > 0 {
		places, all := db.InList(nil, anyOf(codes))
		l.TotalSQL = "" // some of the codes are counted
		l.Conditions = append(l.Conditions, db.Condition{Clause: "promotion_code.code IN (?" + strings.Repeat(",?", strings.Count(places, ",")) + ")", Values: all})
	}
	return db.List(ctx, s.db, l, store.ListQuery{Sort: sort, Page: page})
}

func codeList(p *Promotion) db.Listing[*PromotionCode] {
	l := CodesOf(p.number, p.epoch)
	l.Scan = func(rows *sql.Rows) (*PromotionCode, error) { return scanCode(rows, p) }
	return l
}

// CodesOf is that list by the promotion's number and epoch; its rows have no
// promotion.
func CodesOf(number, epoch int64) db.Listing[*PromotionCode] {
	return db.Listing[*PromotionCode]{
		Name: "promotion_code", ID: "promotion_code.code", TimePrefix: "promotion_code.",
		Columns:    codeColumns,
		Table:      `promotion_code LEFT JOIN code_claim ON code_claim.code = promotion_code.code`,
		TotalSQL:   codesTotal,
		CountTable: `promotion_code`,
		Conditions: []db.Condition{
			{Clause: "promotion_code.promotion_number = ?", Values: []any{number}},
			{Clause: "promotion_code.epoch = ?", Values: []any{epoch}},
		},
		Key: func(c *PromotionCode, sort store.Sort) []any {
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
