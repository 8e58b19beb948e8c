package redeem

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// CodeUsage is a code that was redeemed. The units of a code's usages that
// were not released add up to what is used of it.
type CodeUsage struct {
	ID          string
	PromotionID string // also of a deleted promotion
	Code        string
	User        string // who used it; empty for nobody in particular
	Reference   string // the caller's own, an order number for instance
	UnitsAsked  int    // item units that it was redeemed for
	Units       int    // uses it took: 1 of a per_cart code, else at most UnitsAsked
	Actor       store.Actor
	CreatedAt   time.Time
	ReleasedAt  time.Time // when the uses were given back; zero until then
}

// Released tells whether the uses were given back.
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

// CodeUsages lists how a promotion's codes were redeemed, or one of them, in
// the order it was. A deleted promotion is known as long as it has usages. Usages have no updated_at, so it is INVALID to sort or
// bound them by it.
// NOT_FOUND for an unknown promotion, and for a code that it never had.
func (s *RedeemService) CodeUsages(ctx context.Context, promotionID string, text *string, query store.ListQuery) (*store.Slice[*CodeUsage], error) {
	number, err := s.usagesOf(ctx, promotionID, text)
	if err != nil {
		return nil, err
	}
	of := UsageList
	of.Conditions = []db.Condition{{Clause: "promotion_number = ?", Values: []any{number}}}
	if text != nil {
		of.TotalSQL = "" // those of one code are counted
		of.Conditions = append(of.Conditions, db.Condition{Clause: "code = ?", Values: []any{*text}})
	}
	for _, r := range query.Ranges {
		if r.Attribute == store.SortUpdatedAt {
			return nil, store.Invalidf([]string{"filter"}, "compares updated_at, which usages have none of; compare id or created_at")
		}
	}
	if query.Sort.By == store.SortUpdatedAt {
		return nil, store.Invalidf([]string{"sort"}, "must be id or created_at, which both are the order of use, not updated_at")
	}
	query.Sort.By = store.SortCreatedAt // as the ids are
	return db.List(ctx, s.db, of, query)
}

// usagesOf is the number of a promotion, which has or had a code.
func (s *RedeemService) usagesOf(ctx context.Context, promotionID string, text *string) (number int64, err error) {
	if !store.IsID(promotionID) {
		return 0, rule.UnknownPromotion(promotionID)
	}
	number, found, err := db.One(ctx, s.db.Reader, db.Scalar[int64], `SELECT number FROM promotion WHERE id = $1`, promotionID)
	if err == nil && !found {
		var deleted map[string]code.EpochKey
		deleted, err = code.FindArchived(ctx, s.db.Reader, []string{promotionID})
		if number, found = deleted[promotionID].Number, len(deleted) > 0; err == nil && !found {
			return 0, rule.UnknownPromotion(promotionID)
		}
	}
	if err != nil || text == nil {
		return number, err
	}
	known := false
	if store.IsStorableText(*text) {
		_, known, err = db.One(ctx, s.db.Reader, db.Scalar[int64], `
			SELECT 1 FROM code_usage WHERE promotion_number = $1 AND code = $2
			UNION ALL
			SELECT 1 FROM promotion JOIN promotion_code ON promotion_number = number AND promotion_code.epoch = promotion.epoch
			WHERE number = $1 AND code = $2
			LIMIT 1`, number, *text)
	}
	if err == nil && !known {
		err = store.NotFoundf(nil, "The promotion %q has no code %q.", promotionID, store.Abbreviate(*text))
	}
	return number, err
}

// UsageList is how uses of codes are listed.
var UsageList = db.Listing[*CodeUsage]{
	Name: "code_usage", Columns: usageColumns, Table: "code_usage", ID: "id", Scan: scanUsage,
	TotalSQL: UsageCountSQL,
	Key:      func(u *CodeUsage, _ store.Sort) []any { return []any{store.Micros(u.CreatedAt), u.ID} },
}

// check tells whether a usage is what it is asked for once more.
func (u *CodeUsage) check(use CodeUse) error {
	path := []string{"reference"}
	switch {
	case u.User != use.User:
		return &store.Error{Code: store.Conflict, Path: path, Detail: "redeemed this code for another user already; take another reference"}
	case u.UnitsAsked != use.Units:
		return &store.Error{Code: store.Conflict, Path: path, Detail: "redeemed this code for " + strconv.Itoa(u.UnitsAsked) + " units already, not " + strconv.Itoa(use.Units) +
			"; take another reference, or release this one"}
	case u.Released():
		return store.Unprocessablef(path, "redeemed this code and was released; take another reference")
	}
	return nil
}
