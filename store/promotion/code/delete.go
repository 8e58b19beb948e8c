package code

import (
	"context"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// DeletePromotionCodes deletes codes of a promotion, all or none, and returns how many. It
// returns NOT_FOUND for an unknown promotion and for each code it does not have, and
// UNPROCESSABLE for the code of an automatic promotion.
func (s *CodeService) DeletePromotionCodes(ctx context.Context, actor store.Actor, promotionID string, codes []string) (deleted int, err error) {
	if len(codes) == 0 || len(codes) > MaxCodes {
		return 0, store.Unprocessablef([]string{"codes"}, "must name between 1 and %d codes, got %d", MaxCodes, len(codes))
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (deleted int, err error) {
		p, err := rule.LockPromotion(ctx, t, "promotion_id", promotionID)
		if err != nil {
			return 0, err
		}
		known, err := lockCodes(ctx, t, p, codes)
		if err != nil {
			return 0, err
		}
		var faulty store.Errors
		for i, code := range codes {
			at := []string{"codes", strconv.Itoa(i)}
			switch {
			case p.Automatic && code == p.AutomaticCode():
				faulty = append(faulty, store.Unprocessablef(at, "must not be the code of an automatic promotion. Set automatic to false to delete it."))
			case !known[code]:
				faulty = append(faulty, store.NotFoundf(at, "is not a code of the promotion: %q", store.Abbreviate(code)))
			}
		}
		if err := store.BatchError(faulty); err != nil {
			return 0, err
		}
		recordCodes(t, p.ID, store.AuditDeleted, len(known))
		return len(known), Delete(ctx, t, p.Number, p.Epoch, store.Unique(codes))
	})
}

// lockCodes returns which of the codes a promotion has. It locks them in order, since writes that
// lock in different orders deadlock (redemption.lock).
func lockCodes(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []string) (map[string]bool, error) {
	codes = slices.DeleteFunc(store.Unique(codes), func(code string) bool { return !store.IsStorableText(code) })
	slices.Sort(codes)
	found, err := db.CollectIn(ctx, t.Session, db.Scalar[string], codes,
		`SELECT code FROM promotion_code WHERE promotion_number = $1 AND epoch = $2 AND code IN ($in)
		ORDER BY code`+t.ForUpdate("promotion_code"), p.Number, p.Epoch)
	return store.SetOf(found), err
}

// Delete deletes codes of a promotion's epoch, with their claims.
func Delete(ctx context.Context, t *db.Tx, number, epoch int64, codes []string) error {
	gone, err := deleteCodes(ctx, t, number, epoch, codes)
	if err != nil {
		return err
	}
	return CountChanges{EpochKey{number, epoch}: -gone}.Add(ctx, t)
}

// deleteCodes is Delete without the promotion's count, for epochs that are not counted. It
// returns how many codes existed.
func deleteCodes(ctx context.Context, t *db.Tx, number, epoch int64, codes []string) (gone int, err error) {
	codes = slices.Sorted(slices.Values(codes))
	err = store.Chunked(codes, 512, func(codes []string) error {
		list, args := db.InList([]any{number, epoch}, codes)
		for _, table := range []string{"code_claim", "promotion_code"} {
			n, err := t.Exec(ctx, `DELETE FROM `+table+` WHERE promotion_number = $1 AND epoch = $2 AND code IN (`+list+`)`, args...)
			if err != nil {
				return err
			}
			if table == "promotion_code" {
				gone += int(n)
			}
		}
		return nil
	})
	return gone, err
}
