package redeem

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"

	"portico/store/db"
)

// How many usages a promotion has is the sum of its parts, for those who redeem
// its codes lock the codes alone: were it one row, they would wait for each
// other's commit, one server's for another's. Each write adds to one part, and
// that last of all, so that it waits for nobody while others wait for it.
const (
	writersPart = 0 // of imports and sweeps, which hold it for longer
	usageParts  = 16
)

// aPart is one of those for redemptions.
func aPart() int { return 1 + rand.IntN(usageParts) }

// usagesTotal is how many usages a promotion has, by its number.
const UsageCountSQL = `SELECT CAST(COALESCE(SUM(usages), 0) AS BIGINT) FROM code_usage_total WHERE promotion_number = $1`

// usageCounts are usages that were added, by the promotion's number, or removed
// where it is less than 0.
type usageCounts map[int64]int

var usageTotalInsert = db.NewInserter("code_usage_total", []string{"promotion_number", "part", "usages"}, `
	ON CONFLICT (promotion_number, part) DO UPDATE SET usages = code_usage_total.usages + excluded.usages`)

// add has a part of the promotions' totals count them.
func (c usageCounts) add(ctx context.Context, t *db.Tx, part int) error {
	maps.DeleteFunc(c, func(_ int64, n int) bool { return n == 0 })
	order := slices.Sorted(maps.Keys(c)) // or two writes deadlock
	_, err := t.Insert(ctx, usageTotalInsert, len(order), func(values []any, n int) []any {
		return append(values, order[n], part, c[order[n]])
	})
	return err
}
