package code

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// EachHeld calls do with the codes of promotions that have not ended at a time, at most 512 at once.
func EachHeld(ctx context.Context, in db.Session, now time.Time, do func([]HeldInAnotherCase) error) error {
	type runningPromotion struct {
		rule.Promotion
		end int64
	}
	for after := int64(-1); ; {
		page, err := db.Collect(ctx, in, func(rows *sql.Rows) (p runningPromotion, err error) {
			return p, rows.Scan(&p.ID, &p.Number, &p.Epoch, &p.end)
		}, `SELECT id, number, epoch, end_at FROM promotion WHERE number > $1 AND end_at > $2 ORDER BY number LIMIT $3`, after, store.Micros(now), promotionsAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, p := range page {
			after = p.Number
			if err := eachOf(ctx, in, &p.Promotion, store.FromMicros(p.end), do); err != nil {
				return err
			}
		}
	}
}

// eachOf calls do with the codes of a promotion.
func eachOf(ctx context.Context, in db.Session, p *rule.Promotion, end time.Time, do func([]HeldInAnotherCase) error) error {
	for after := ""; ; {
		page, err := db.Collect(ctx, in, func(rows *sql.Rows) (HeldInAnotherCase, error) {
			held := HeldInAnotherCase{PromotionID: p.ID, End: end}
			return held, rows.Scan(&held.ID, &held.Code)
		}, `SELECT id, code FROM promotion_code WHERE promotion_number = $1 AND epoch = $2 AND code > $3 ORDER BY code LIMIT 512`, p.Number, p.Epoch, after)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Code
		if err := do(page); err != nil {
			return err
		}
	}
}

// SwitchConflicts returns the errors for which PrepareCase would refuse codes, without writing. Of codes without a
// stored key it finds only those beside a code that is its own key.
func SwitchConflicts(ctx context.Context, in db.Session, now time.Time, codes []HeldInAnotherCase) (conflicts store.Errors, err error) {
	byKey, keys := map[string][]string{}, []string{}
	for _, held := range codes {
		if key := Key(held.Code); key != held.Code {
			byKey[key], keys = append(byKey[key], held.Code), append(keys, key)
		}
	}
	holders, err := holdersOf(ctx, in, store.Unique(keys))
	for _, other := range holders {
		for _, code := range byKey[Key(other.Code)] {
			if other.Code < code && other.End.After(now) { // a code that is its own key comes before others
				conflicts = append(conflicts, caseConflict(other.Code, code))
			}
		}
	}
	return conflicts, err
}
