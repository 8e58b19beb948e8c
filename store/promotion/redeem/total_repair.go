package redeem

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
)

// RepairTotals counts the codes and usages of promotions once a day and corrects wrong totals.
// They can be wrong after a server of a version without totals wrote to the same database. Stored
// and counted numbers are read at once and only the difference is added, so that concurrent
// writes stay counted.
func (s *Service) RepairTotals(actor store.Actor) db.Sweep {
	return db.Sweep{Name: "totals of promotions", Every: 24 * time.Hour, Run: func(ctx context.Context) error {
		promotions, err := db.Collect(ctx, s.db.Reader, db.Scalar[int64], `SELECT number FROM promotion ORDER BY number`)
		for _, number := range promotions {
			if err == nil {
				err = s.repairTotals(ctx, actor, number)
			}
		}
		return err
	}}
}

// repairTotals corrects the totals of a promotion. It compares again after it has locked the promotion: another server may have
// corrected it.
func (s *Service) repairTotals(ctx context.Context, actor store.Actor, number int64) error {
	difference, err := compareTotals(ctx, s.db.Reader, number)
	if err != nil || !difference.nonZero() {
		return err
	}
	s.db.Log.Warn("correcting the totals of a promotion", "promotion", number, "codes", difference.codes, "usages", difference.usages)
	return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		if _, _, err := db.One(ctx, t.Session, db.Scalar[int64], `SELECT number FROM promotion WHERE number = $1`+t.ForUpdate("promotion"), number); err != nil {
			return err
		}
		difference, err := compareTotals(ctx, t.Session, number)
		if err != nil {
			return err
		}
		if err := (code.CountChanges{code.EpochKey{Number: number, Epoch: difference.epoch}: difference.codes}).Add(ctx, t); err != nil {
			return err
		}
		return usageCounts{number: difference.usages}.add(ctx, t, importPart)
	})
}

// totalsDifference is how many more codes and usages a promotion has than its totals say.
type totalsDifference struct {
	epoch         int64
	codes, usages int
}

func (d totalsDifference) nonZero() bool { return d.codes != 0 || d.usages != 0 }

// compareTotals returns how the counted rows of a promotion differ from its totals; zero for an unknown one.
func compareTotals(ctx context.Context, in db.Session, number int64) (totalsDifference, error) {
	difference, _, err := db.One(ctx, in, func(rows *sql.Rows) (d totalsDifference, err error) {
		return d, rows.Scan(&d.epoch, &d.codes, &d.usages)
	}, `
		SELECT epoch,
		       (SELECT COUNT(*) FROM promotion_code WHERE promotion_code.promotion_number = promotion.number AND promotion_code.epoch = promotion.epoch) - codes,
		       (SELECT COUNT(*) FROM code_usage WHERE promotion_number = number) - (`+UsageCountSQL+`)
		FROM promotion WHERE number = $1`, number)
	return difference, err
}
