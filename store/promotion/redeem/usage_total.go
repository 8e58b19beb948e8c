package redeem

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"portico/store/db"
)

// The number of usages of a promotion is the sum of several rows, its parts. Redemptions lock
// only their codes. With a single row they would wait for each other's commit, even across
// servers. Each write adds to one part, as its last step, so that it holds the lock for a short
// time.
const (
	importPart = 0  // for imports and sweeps, which take longer
	usageParts = 16 // for redemptions: 1 to 16
)

// randomPart returns a part for a redemption.
func randomPart() int { return 1 + rand.IntN(usageParts) }

// UsageCountSQL returns the number of usages of a promotion, by its number.
const UsageCountSQL = `SELECT CAST(COALESCE(SUM(usages), 0) AS BIGINT) FROM code_usage_total WHERE promotion_number = $1`

// UsagesSQL returns the number of usages of all promotions.
const UsagesSQL = `SELECT CAST(COALESCE(SUM(usages), 0) AS BIGINT) FROM code_usage_total`

// usageCounts holds how many usages were added to promotions, by their number; negative for
// deleted ones.
type usageCounts map[int64]int

var usageTotalInsert = db.NewInserter("code_usage_total", []string{"promotion_number", "part", "usages"}, `
	ON CONFLICT (promotion_number, part) DO UPDATE SET usages = code_usage_total.usages + excluded.usages`)

// add adds the counts to a part of the promotions' totals. It drops zero counts from c.
func (c usageCounts) add(ctx context.Context, t *db.Tx, part int) error {
	maps.DeleteFunc(c, func(_ int64, n int) bool { return n == 0 })
	order := slices.Sorted(maps.Keys(c)) // writes that lock in different orders deadlock
	_, err := t.Insert(ctx, usageTotalInsert, len(order), func(values []any, n int) []any {
		return append(values, order[n], part, c[order[n]])
	})
	return err
}
