package code

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db"
)

// EachHeld calls do with the codes of promotions that have not ended at a time, a page at a time.
func EachHeld(ctx context.Context, in db.Session, now time.Time, do func([]HeldInAnotherCase) error) error {
	type runningPromotion struct {
		id                 string
		number, epoch, end int64
	}
	scan := func(rows *sql.Rows) ([]any, runningPromotion, error) {
		var p runningPromotion
		err := rows.Scan(&p.id, &p.number, &p.epoch, &p.end)
		return []any{p.number}, p, err
	}
	running := []db.Condition{{Clause: "end_at > ?", Values: []any{store.Micros(now)}}}
	return db.EachPageWhere(ctx, in, "promotion", running, "id, number, epoch, end_at", []string{"number"}, scan, func(page []runningPromotion) error {
		for _, p := range page {
			scan := func(rows *sql.Rows) ([]any, HeldInAnotherCase, error) {
				held := HeldInAnotherCase{PromotionID: p.id, End: store.FromMicros(p.end)}
				err := rows.Scan(&held.ID, &held.Code)
				return []any{held.Code}, held, err
			}
			of := []db.Condition{{Clause: "promotion_number = ?", Values: []any{p.number}}, {Clause: "epoch = ?", Values: []any{p.epoch}}}
			if err := db.EachPageWhere(ctx, in, "promotion_code", of, "id, code", []string{"code"}, scan, do); err != nil {
				return err
			}
		}
		return nil
	})
}

// SwitchConflicts returns the errors for which PrepareCase would refuse codes, without writing. A code
// whose key is not stored yet is compared only with codes that are their own key.
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
