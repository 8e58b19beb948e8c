package redeem

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
)

// MendTotals counts the codes and usages of promotions once a day, and mends
// what is stored of them where that is something else: after a server of a
// version that kept no totals wrote beside this one, for instance. Stored and
// counted are read at one moment, and only how far they are apart is written, so
// that what others write meanwhile stays counted.
func MendTotals(s *RedeemService, actor store.Actor) db.Sweep {
	return db.Sweep{Name: "totals of promotions", Every: 24 * time.Hour, Run: func(ctx context.Context) error {
		promotions, err := db.Collect(ctx, s.db.Reader, db.Scalar[int64], `SELECT number FROM promotion ORDER BY number`)
		for _, number := range promotions {
			if err == nil {
				err = s.mendTotals(ctx, actor, number)
			}
		}
		return err
	}}
}

// mendTotals looks once more where something is wrong: of two that mend, the
// one that comes later finds it right.
func (s *RedeemService) mendTotals(ctx context.Context, actor store.Actor, number int64) error {
	off, err := totalsOff(ctx, s.db.Reader, number)
	if err != nil || !off.wrong() {
		return err
	}
	s.db.Log.Warn("the totals of a promotion were wrong, and are mended", "promotion", number, "codes", off.codes, "usages", off.usages)
	return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		if _, _, err := db.One(ctx, t.Session, db.Scalar[int64], `SELECT number FROM promotion WHERE number = $1`+t.ForUpdate("promotion"), number); err != nil {
			return err
		}
		off, err := totalsOff(ctx, t.Session, number)
		if err != nil {
			return err
		}
		if err := (code.Counts{code.EpochKey{Number: number, Epoch: off.epoch}: off.codes}).Add(ctx, t); err != nil {
			return err
		}
		return usageCounts{number: off.usages}.add(ctx, t, writersPart)
	})
}

// totalOff is how much more there is of a promotion than its totals tell.
type totalOff struct {
	epoch         int64
	codes, usages int
}

func (o totalOff) wrong() bool { return o.codes != 0 || o.usages != 0 }

func totalsOff(ctx context.Context, in db.Session, number int64) (totalOff, error) {
	off, _, err := db.One(ctx, in, func(rows *sql.Rows) (o totalOff, err error) {
		return o, rows.Scan(&o.epoch, &o.codes, &o.usages)
	}, `
		SELECT epoch,
		       (SELECT COUNT(*) FROM promotion_code WHERE promotion_code.promotion_number = promotion.number AND promotion_code.epoch = promotion.epoch) - codes,
		       (SELECT COUNT(*) FROM code_usage WHERE promotion_number = number) - (`+UsageCountSQL+`)
		FROM promotion WHERE number = $1`, number)
	return off, err
}
