package job

import (
	"context"
	"database/sql"
	"fmt"

	"portico/store"
	"portico/store/db"
)

// What may wait of jobs, those that run included.
const (
	MaxClientJobs  = 100        // of one client
	MaxClientCodes = 10_000_000 // codes to be made, of one client
	MaxCodesToMake = 50_000_000 // codes to be made, of all clients
)

// jobRoom is RATE_LIMITED when a job more, of so many units, is too much. Those
// who ask at once ask one after the other, so that the bounds hold.
func jobRoom(t *db.Tx, ctx context.Context, kind JobKind, units int) error {
	if _, err := t.Exec(ctx, `
		INSERT INTO counter (name, value) VALUES ('jobs', 1)
		ON CONFLICT (name) DO UPDATE SET value = counter.value + 1`); err != nil {
		return err
	}
	var jobs, own, all int64
	_, _, err := db.One(ctx, t.Session, func(rows *sql.Rows) (none struct{}, err error) {
		return none, rows.Scan(&jobs, &own, &all)
	}, `
		SELECT CAST(COALESCE(SUM(CASE WHEN actor = $1 THEN 1 ELSE 0 END), 0) AS BIGINT),
		       CAST(COALESCE(SUM(CASE WHEN actor = $1 AND kind = $2 THEN total - done ELSE 0 END), 0) AS BIGINT),
		       CAST(COALESCE(SUM(CASE WHEN kind = $2 THEN total - done ELSE 0 END), 0) AS BIGINT)
		FROM job WHERE finished_at = 0`, string(t.Actor), string(JobGenerateCodes))
	switch {
	case err != nil:
		return err
	case jobs >= MaxClientJobs:
		return tooMuchWaits("This client has %d jobs that wait or run, which is as many as one may have", jobs)
	case kind != JobGenerateCodes:
		return nil
	case own+int64(units) > MaxClientCodes:
		return tooMuchWaits("This client has asked for %d codes that are not made yet, and may have asked for %d at a time, so that %d more are too many", own, MaxClientCodes, units)
	case all+int64(units) > MaxCodesToMake:
		return tooMuchWaits("%d codes are asked for that are not made yet, of at most %d by all clients, so that %d more are too many", all, MaxCodesToMake, units)
	}
	return nil
}

func tooMuchWaits(format string, args ...any) error {
	return &store.Error{Code: store.RateLimited, Detail: fmt.Sprintf(format, args...) + "; ask again when a job has ended, or cancel one."}
}
