package code

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// SortCode sorts by code, byte by byte.
const SortCode store.SortBy = "code"

// List lists the codes of a promotion that match a filter, by code unless sorted by SortCreatedAt. It
// returns NOT_FOUND for an unknown promotion.
func (s *Service) List(ctx context.Context, promotionID string, filter Filter, sort store.Sort, page store.Page) (*store.Slice[*PromotionCode], error) {
	p, err := rule.FindPromotion(ctx, s.db, promotionID)
	if err != nil {
		return nil, err
	}
	lists, err := s.OfPromotions(ctx, []*rule.Promotion{p}, filter, sort, page)
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

// OfPromotions lists the codes of each promotion as List does, in one statement. With several
// promotions, a cursor is INVALID.
func (s *Service) OfPromotions(ctx context.Context, promotions []*rule.Promotion, filter Filter, sort store.Sort, page store.Page) ([]*store.Slice[*PromotionCode], error) {
	sort, err := filter.check(sort)
	if err != nil {
		return nil, err
	}
	if len(filter.Codes) > 0 {
		m, err := MatchOf(ctx, s.db)
		if err != nil {
			return nil, err
		}
		filter.Codes, err = m.Spellings(ctx, s.db.Reader, filter.Codes)
		if err != nil {
			return nil, err
		}
	}
	lists := make([]db.Listing[*PromotionCode], len(promotions))
	places := make(map[string]int, len(promotions))
	for i, p := range promotions {
		l := CodesOf(p.Number, p.Epoch)
		l.Columns, l.Table = Columns+", promotion.id", CurrentTables
		l.Scan = func(rows *sql.Rows) (*PromotionCode, error) {
			c, err := Scan(rows)
			if err == nil {
				c.Promotion = promotions[places[c.PromotionID]]
			}
			return c, err
		}
		if conditions := filter.Conditions(p.State); len(conditions) > 0 {
			l.TotalSQL = "" // some of the codes are counted
			l.Conditions = append(l.Conditions, conditions...)
		}
		lists[i], places[p.ID] = l, i
	}
	return db.Lists(ctx, s.db, lists, store.ListQuery{Sort: sort, Ranges: filter.CreatedAt, Page: page}, func(c *PromotionCode) int { return places[c.PromotionID] })
}

// CodesOf lists the codes of an epoch of a promotion. The Promotion of each is nil.
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

// FindAll finds codes in all promotions, by the texts: of each the one that is held at a time, else the newest. It
// omits unknown ones. It takes one statement, or two without regard to case.
func FindAll(ctx context.Context, d *db.DB, texts []string, at time.Time) (map[string]*PromotionCode, error) {
	m, err := MatchOf(ctx, d)
	if err != nil {
		return nil, err
	}
	return m.findAll(ctx, d.Reader, texts, at)
}

// findAll is FindAll with a match. Texts that match the same code share it.
func (m Match) findAll(ctx context.Context, in db.Session, texts []string, at time.Time) (map[string]*PromotionCode, error) {
	spellings, err := m.Spellings(ctx, in, texts)
	if err != nil || len(spellings) == 0 {
		return nil, err
	}
	byKey := map[string][]string{}
	for _, code := range spellings {
		byKey[m.Key(code)] = append(byKey[m.Key(code)], code)
	}
	var parts []string
	args := []any{store.Micros(at)}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		var list string
		list, args = db.InList(args, byKey[key])
		parts = append(parts, `SELECT id, code, max_uses, used, consume_unit, users, created_at, held, promotion_id FROM (
			SELECT `+Columns+`, promotion.id AS promotion_id FROM `+CurrentTables+`
			WHERE promotion_code.code IN (`+list+`)
			ORDER BY CASE WHEN code_claim.promotion_number = promotion_code.promotion_number AND code_claim.epoch = promotion_code.epoch
			             THEN CASE WHEN promotion.end_at > $1 THEN 2 ELSE 1 END ELSE 0 END DESC,
			         promotion_code.created_at DESC, promotion_code.promotion_number DESC LIMIT 1) AS found`+strconv.Itoa(len(parts)))
	}
	found, err := db.Collect(ctx, in, Scan, strings.Join(parts, " UNION ALL "), args...)
	codes, byText := store.IndexBy(found, func(c *PromotionCode) string { return m.Key(c.Code) }), map[string]*PromotionCode{}
	for _, text := range texts {
		if c := codes[m.Key(text)]; c != nil {
			byText[text] = c
		}
	}
	return byText, err
}

// Get finds a code in all promotions: the held one, else the newest. It returns
// NOT_FOUND if there is none.
func (s *Service) Get(ctx context.Context, code string) (*PromotionCode, error) {
	found, err := FindAll(ctx, s.db, []string{code}, s.db.Now())
	c := found[code]
	if err == nil && c == nil {
		err = store.NotFoundf(nil, "There is no promotion code %q.", store.Abbreviate(code))
	}
	if err != nil {
		return nil, err
	}
	return c, s.joinPromotions(ctx, []*PromotionCode{c})
}

// joinPromotions sets the promotion of each code.
func (s *Service) joinPromotions(ctx context.Context, codes []*PromotionCode) error {
	var ids []string
	for _, c := range codes {
		ids = append(ids, c.PromotionID)
	}
	byID, err := rule.FindPromotions(ctx, s.db, store.Unique(ids))
	for _, c := range codes {
		c.Promotion = byID[c.PromotionID]
		if c.Promotion == nil && err == nil {
			err = rule.UnknownPromotion(c.PromotionID) // deleted since the codes were read
		}
	}
	return err
}

// ByID returns codes by id. It omits unknown ids.
func (s *Service) ByID(ctx context.Context, ids []string) (map[string]*PromotionCode, error) {
	codes, err := db.CollectIn(ctx, s.db.Reader, Scan, store.ValidIDs(ids), `SELECT `+Columns+`, promotion.id FROM `+CurrentTables+` WHERE promotion_code.id IN ($in)`)
	if err == nil {
		err = s.joinPromotions(ctx, codes)
	}
	return store.IndexBy(codes, func(c *PromotionCode) string { return c.ID }), err
}
