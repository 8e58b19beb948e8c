package job

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"portico/store"
	"portico/store/db"
)

// Room is what may wait of jobs, those that run included. In each, 0 is the
// default. A server holds its own bounds against the jobs of all servers.
type Room struct {
	ClientJobs  int // of one client; by default 100
	ClientCodes int // codes to be made, of one client; by default 10,000,000
	Codes       int // codes to be made, of all clients; by default 50,000,000
}

// The defaults.
const (
	defaultClientJobs  = 100
	defaultClientCodes = 10_000_000
	defaultCodes       = 50_000_000
)

func (r Room) orDefault() Room {
	return Room{cmp.Or(r.ClientJobs, defaultClientJobs), cmp.Or(r.ClientCodes, defaultClientCodes), cmp.Or(r.Codes, defaultCodes)}
}

// admit is RATE_LIMITED when a job more, of so many units, is too much, and
// UNPROCESSABLE when it would be so however little waits. Those who ask at once
// ask one after the other, so that the bounds hold.
func (r Room) admit(ctx context.Context, t *db.Tx, kind JobKind, units int) error {
	if most := min(r.ClientCodes, r.Codes); kind == JobGenerateCodes && units > most {
		return store.Unprocessablef([]string{"count"}, "must be at most %d, not %d: that is how many codes may wait to be made; ask for fewer, several times", most, units)
	}
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
	case jobs >= int64(r.ClientJobs):
		return tooMuchWaits(nil, "This client has %d jobs that wait or run, and may have %d", jobs, r.ClientJobs)
	case kind != JobGenerateCodes:
		return nil
	case own+int64(units) > int64(r.ClientCodes):
		return tooMuchWaits([]string{"count"}, "is %d, which is too many: this client has asked for %d codes that are not made yet, of at most %d at a time", units, own, r.ClientCodes)
	case all+int64(units) > int64(r.Codes):
		return tooMuchWaits([]string{"count"}, "is %d, which is too many: %d codes are asked for that are not made yet, of at most %d by all clients", units, all, r.Codes)
	}
	return nil
}

func tooMuchWaits(path []string, format string, args ...any) error {
	return &store.Error{Code: store.RateLimited, Path: path, Detail: fmt.Sprintf(format, args...) + "; ask again when a job has ended, or cancel one"}
}
