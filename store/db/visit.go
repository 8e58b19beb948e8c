package db

import (
	"context"
	"database/sql"
	"slices"
	"strconv"

	"portico/store/db/dialect"
)

// Visit calls visit for each row of a query by keys, which has the columns key and body. body is valid
// until visit returns, and may be the memory of the database: on SQLite no row is copied. visit must not
// use the database, must not keep body, and must give the same result when the query starts again with
// its first row. Like Session.Keyed it does not watch ctx.
func Visit(ctx context.Context, s Session, visit func(key int64, body []byte) error, query string, args ...any) error {
	s = s.Keyed()
	if !s.keyed { // PostgreSQL: the driver has read the row already
		_, err := Collect(ctx, s, func(rows *sql.Rows) (none struct{}, err error) {
			var key int64
			var body sql.RawBytes
			if err := rows.Scan(&key, &body); err != nil {
				return none, err
			}
			return none, visit(key, body)
		}, query, args...)
		return err
	}
	running := dialect.StartVisit(visit)
	defer running.End()
	_, err := Collect(ctx, s, Scalar[int], `SELECT COUNT(*) FROM (`+query+`) WHERE `+dialect.VisitFunction+`(key, body, $`+strconv.Itoa(len(args)+1)+`)`,
		append(slices.Clip(args), running.Number)...)
	return running.Result(err)
}
