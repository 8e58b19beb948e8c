package redeem

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// CodeUsage is a redemption of a code. The code's used number is the sum of the units of usages
// that were not released.
type CodeUsage struct {
	ID          string
	PromotionID string // also of a deleted promotion
	Code        string
	User        string // empty if unknown
	Reference   string // of the caller, such as an order number
	UnitsAsked  int    // item units that were requested
	Units       int    // uses that it consumed: 1 of a per_cart code, else at most UnitsAsked
	Actor       store.Actor
	CreatedAt   time.Time
	ReleasedAt  time.Time // zero if not released
}

// Released reports whether the uses were given back.
func (u *CodeUsage) Released() bool { return !u.ReleasedAt.IsZero() }

const usageColumns = `id, COALESCE(
	    (SELECT promotion.id FROM promotion WHERE promotion.number = code_usage.promotion_number),
	    (SELECT promotion_archive.id FROM promotion_archive WHERE promotion_archive.number = code_usage.promotion_number)) AS promotion_id, code, user_id, reference,
	units_asked, units, actor, created_at, released_at`

func scanUsage(rows *sql.Rows) (*CodeUsage, error) {
	u := &CodeUsage{}
	var promotion sql.NullString
	var created int64
	var released sql.NullInt64
	err := rows.Scan(&u.ID, &promotion, &u.Code, &u.User, &u.Reference, &u.UnitsAsked, &u.Units, &u.Actor, &created, &released)
	u.PromotionID, u.CreatedAt = promotion.String, store.FromMicros(created)
	if released.Valid {
		u.ReleasedAt = store.FromMicros(released.Int64)
	}
	return u, err
}

// UsageFilter selects usages that match every member. A nil member matches all.
type UsageFilter struct {
	PromotionID *string // also of a deleted promotion, while it has usages
	Code        *string // of PromotionID
	Reference   *string
}

// check requires a reference that can be stored, and that a code comes with a promotion.
func (f UsageFilter) check() error {
	switch {
	case f.Code != nil && f.PromotionID == nil:
		return store.Invalidf([]string{"code"}, "needs a promotion too, because several may have had the code. promotionCode finds it.")
	case f.Reference != nil && !store.IsStorableText(*f.Reference):
		return store.Invalidf([]string{"reference"}, "contains NUL or invalid UTF-8")
	case f.Reference != nil && *f.Reference == "":
		return store.Invalidf([]string{"reference"}, "must not be empty")
	}
	return nil
}

// CodeUsages lists the usages that match a filter, in order. Usages have no updated_at: to sort or filter by it is
// INVALID. It returns NOT_FOUND for an unknown promotion, and for a code that it never had.
func (s *Service) CodeUsages(ctx context.Context, filter UsageFilter, query store.ListQuery) (*store.Slice[*CodeUsage], error) {
	if err := filter.check(); err != nil {
		return nil, err
	}
	if filter.PromotionID == nil {
		query, err := usageQuery(query)
		if err != nil {
			return nil, err
		}
		all := UsageList
		all.TotalSQL = UsagesSQL
		if filter.Reference != nil {
			all.TotalSQL = ""
			all.Conditions = []db.Condition{{Clause: "reference = ?", Values: []any{*filter.Reference}}}
		}
		return db.List(ctx, s.db, all, query)
	}
	number, codes, err := s.promotionNumber(ctx, *filter.PromotionID, filter.Code)
	if err != nil {
		return nil, err
	}
	lists, err := s.usagesOf(ctx, []int64{number}, codes, filter.Reference, query, func(*CodeUsage) int { return 0 })
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

// UsagesOfPromotions lists the usages of each of several promotions as CodeUsages does, in one statement. A code
// that a promotion never had has none. With several promotions, a cursor is INVALID.
func (s *Service) UsagesOfPromotions(ctx context.Context, promotions []*rule.Promotion, text *string, query store.ListQuery) ([]*store.Slice[*CodeUsage], error) {
	numbers := make([]int64, len(promotions))
	places := make(map[string]int, len(promotions))
	for i, p := range promotions {
		numbers[i], places[p.ID] = p.Number, i
	}
	if text != nil && !store.IsStorableText(*text) {
		return nil, store.Invalidf([]string{"code"}, "contains NUL or invalid UTF-8")
	}
	var codes []string
	if text != nil {
		var err error
		codes, err = s.spellings(ctx, *text)
		if err != nil {
			return nil, err
		}
	}
	return s.usagesOf(ctx, numbers, codes, nil, query, func(u *CodeUsage) int { return places[u.PromotionID] })
}

// usageQuery checks the bounds and the order of a list of usages, and makes the order that of creation.
func usageQuery(query store.ListQuery) (store.ListQuery, error) {
	for _, r := range query.Ranges {
		if r.Attribute == store.SortUpdatedAt {
			return query, store.Invalidf([]string{"filter"}, "must not compare the time of an update, which usages do not have. Use the id or the time of creation.")
		}
	}
	if query.Sort.By == store.SortUpdatedAt {
		return query, store.Invalidf([]string{"sort"}, "must be by id or time of creation: usages have no time of an update")
	}
	query.Sort.By = store.SortCreatedAt // ids are in the same order
	return query, nil
}

// spellings returns the codes that match a text, at least the text itself. Usages have the code as it was written.
func (s *Service) spellings(ctx context.Context, text string) ([]string, error) {
	m, err := code.MatchOf(ctx, s.db)
	if err != nil {
		return nil, err
	}
	codes, err := m.Spellings(ctx, s.db.Reader, []string{text})
	if len(codes) == 0 { // no code is so long
		codes = []string{text}
	}
	return codes, err
}

// usagesOf lists the usages of each of some promotions, by their numbers. With codes or a reference, those of these alone. of
// returns the index of a usage's promotion.
func (s *Service) usagesOf(ctx context.Context, promotions []int64, codes []string, reference *string, query store.ListQuery, of func(*CodeUsage) int) ([]*store.Slice[*CodeUsage], error) {
	query, err := usageQuery(query)
	if err != nil {
		return nil, err
	}
	lists := make([]db.Listing[*CodeUsage], len(promotions))
	for i, number := range promotions {
		lists[i] = UsageList
		lists[i].Conditions = []db.Condition{{Clause: "promotion_number = ?", Values: []any{number}}}
		if codes != nil {
			lists[i].TotalSQL = "" // the total is that of the promotion
			lists[i].Conditions = append(lists[i].Conditions, db.OneOf("code", codes))
		}
		if reference != nil { // found by the reference, which has fewer usages than a promotion: + keeps the other index from use
			lists[i].TotalSQL = ""
			lists[i].Conditions[0].Clause = "+" + lists[i].Conditions[0].Clause
			lists[i].Conditions = append(lists[i].Conditions, db.Condition{Clause: "reference = ?", Values: []any{*reference}})
		}
	}
	return db.Lists(ctx, s.db, lists, query, of)
}

// promotionNumber returns the number of a promotion. If text is not nil, the promotion must have or have had a
// code that matches it, and codes are those that match it.
func (s *Service) promotionNumber(ctx context.Context, promotionID string, text *string) (number int64, codes []string, err error) {
	if !store.IsID(promotionID) {
		return 0, nil, rule.UnknownPromotion(promotionID)
	}
	number, found, err := db.One(ctx, s.db.Reader, db.Scalar[int64], `SELECT number FROM promotion WHERE id = $1`, promotionID)
	if err == nil && !found {
		var deleted map[string]code.EpochKey
		deleted, err = code.FindArchived(ctx, s.db.Reader, []string{promotionID})
		number, found = deleted[promotionID].Number, len(deleted) > 0
		if err == nil && !found {
			return 0, nil, rule.UnknownPromotion(promotionID)
		}
	}
	if err != nil || text == nil {
		return number, nil, err
	}
	known := false
	if store.IsStorableText(*text) {
		codes, err = s.spellings(ctx, *text)
		if err != nil {
			return 0, nil, err
		}
		list, args := db.InList([]any{number}, codes)
		_, known, err = db.One(ctx, s.db.Reader, db.Scalar[int64], `
			SELECT 1 FROM code_usage WHERE promotion_number = $1 AND code IN (`+list+`)
			UNION ALL
			SELECT 1 FROM promotion JOIN promotion_code ON promotion_number = number AND promotion_code.epoch = promotion.epoch
			WHERE number = $1 AND code IN (`+list+`)
			LIMIT 1`, args...)
	}
	if err == nil && !known {
		err = store.NotFoundf(nil, "The promotion %q has no code %q.", promotionID, store.Abbreviate(*text))
	}
	return number, codes, err
}

// UsageList lists usages.
var UsageList = db.Listing[*CodeUsage]{
	Name: "code_usage", Columns: usageColumns, Table: "code_usage", ID: "id", Scan: scanUsage,
	TotalSQL: UsageCountSQL,
	Key:      func(u *CodeUsage, _ store.Sort) []any { return []any{store.Micros(u.CreatedAt), u.ID} },
}

// again returns the usage for a repeated redemption, or code.Refusals: CONFLICT if it differs from the first one, and
// UNPROCESSABLE if that was released.
func (u *CodeUsage) again(use CodeUse) (*CodeUsage, error) {
	const about = code.ArgumentReference
	refusal := code.NewRefusal(code.CodeRedeemed, about, "has already redeemed this code for another user. Use another reference.")
	switch {
	case u.User != use.User:
		refusal.Err.Code = store.Conflict
	case u.UnitsAsked != use.Units:
		refusal = code.NewRefusal(code.CodeRedeemed, about, "has already redeemed this code for %d units, got %d. Use another reference, or release this one.", u.UnitsAsked, use.Units)
		refusal.Err.Code = store.Conflict
	case u.Released():
		refusal = code.NewRefusal(code.CodeReleased, about, "has redeemed this code and was released. Use another reference.")
	default:
		again := *u
		return &again, nil
	}
	return nil, code.Refusals{refusal}
}
