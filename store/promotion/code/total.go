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

// How many codes a promotion has stands with it, for a page of a million codes
// tells their number too. Whoever adds or removes codes has locked their
// promotion (lockPromotions), so that its row is no place where writes wait
// that did not wait there before. It counts the codes of the promotion's own
// epoch; those of epochs before are nobody's.

// codesTotal is how many codes an epoch of a promotion has.
const CountSQL = `SELECT codes FROM promotion WHERE number = $1 AND epoch = $2`

type EpochKey struct{ Number, Epoch int64 }

// codeCounts are codes that were added, or removed where it is less than 0.
type Counts map[EpochKey]int

func scanCodeNumber(rows *sql.Rows) (of EpochKey, err error) {
	return of, rows.Scan(&of.Number, &of.Epoch)
}

// add has the promotions count them.
func (c Counts) Add(ctx context.Context, t *db.Tx) error {
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
