package code

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// SortCode sorts codes byte by byte.
const SortCode store.SortBy = "code"

// PromotionCodes lists a promotion's codes, by code unless sorted by
// SortCreatedAt; codes keeps to those, where there are any. NOT_FOUND when
// there is no such promotion.
func (s *CodeService) PromotionCodes(ctx context.Context, promotionID string, codes []string, sort store.Sort, page store.Page) (*store.Slice[*PromotionCode], error) {
	p, err := rule.FindPromotion(ctx, s.db, promotionID)
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
		places, all := db.InList(nil, codes)
		l.TotalSQL = "" // some of the codes are counted
		l.Conditions = append(l.Conditions, db.Condition{Clause: "promotion_code.code IN (?" + strings.Repeat(",?", strings.Count(places, ",")) + ")", Values: all})
	}
	return db.List(ctx, s.db, l, store.ListQuery{Sort: sort, Page: page})
}

func codeList(p *rule.Promotion) db.Listing[*PromotionCode] {
	l := CodesOf(p.Number, p.Epoch)
	l.Scan = func(rows *sql.Rows) (*PromotionCode, error) { return scanCode(rows, p) }
	return l
}

// CodesOf is that list by the promotion's number and epoch; its rows have no
// promotion.
func CodesOf(number, epoch int64) db.Listing[*PromotionCode] {
	return db.Listing[*PromotionCode]{
		Name: "promotion_code", ID: "promotion_code.code", TimePrefix: "promotion_code.",
		Columns:    Columns,
		Table:      `promotion_code LEFT JOIN code_claim ON code_claim.code = promotion_code.code`,
		TotalSQL:   CountSQL,
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
