package code

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// The row of a promotion counts the codes of its current epoch, since listing a page returns the
// total of up to millions. Writes that add or remove codes have locked that row already, so that
// the count adds no contention.

// CountSQL returns the number of codes in an epoch of a promotion.
const CountSQL = `SELECT codes FROM promotion WHERE number = $1 AND epoch = $2`

// EpochKey identifies the codes of a promotion between two times it was re-enabled.
type EpochKey struct{ Number, Epoch int64 }

// CountChanges holds how many codes were added to each epoch; negative for removed ones.
type CountChanges map[EpochKey]int

// scanEpochKey reads a number and an epoch.
func scanEpochKey(rows *sql.Rows) (of EpochKey, err error) {
	return of, rows.Scan(&of.Number, &of.Epoch)
}

// Add changes the counts of the promotions. Epochs that are not current have none. It drops zero counts from c.
func (c CountChanges) Add(ctx context.Context, t *db.Tx) error {
	maps.DeleteFunc(c, func(_ EpochKey, n int) bool { return n == 0 })
	order := slices.SortedFunc(maps.Keys(c), func(a, b EpochKey) int { return cmp.Compare(a.Number, b.Number) })
	return store.InBlocks(order, 128, func(block []EpochKey) error {
		var args []any
		rows := make([]string, len(block))
		for i, of := range block {
			n := len(args)
			rows[i] = fmt.Sprintf(`(CAST($%d AS BIGINT), CAST($%d AS BIGINT), CAST($%d AS BIGINT))`, n+1, n+2, n+3)
			args = append(args, of.Number, of.Epoch, c[of])
		}
		_, err := t.Exec(ctx, `
			WITH counted (number, epoch, codes) AS (VALUES `+strings.Join(rows, ", ")+`)
			UPDATE promotion SET codes = promotion.codes + counted.codes FROM counted
			WHERE promotion.number = counted.number AND promotion.epoch = counted.epoch`, args...)
		return err
	})
}
