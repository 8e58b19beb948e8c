package job

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"portico/store"
	"portico/store/db"
)

// Quota limits queued and running jobs; 0 means the default. Each server applies its limits to
// the jobs of all servers.
type Quota struct {
	ClientJobs  int // of one client; default 100
	ClientCodes int // codes to generate for one client; default 10,000,000
	Codes       int // codes to generate for all clients; default 50,000,000
}

// The defaults.
const (
	defaultClientJobs  = 100
	defaultClientCodes = 10_000_000
	defaultCodes       = 50_000_000
)

func (q Quota) orDefault() Quota {
	return Quota{cmp.Or(q.ClientJobs, defaultClientJobs), cmp.Or(q.ClientCodes, defaultClientCodes), cmp.Or(q.Codes, defaultCodes)}
}

// check returns RATE_LIMITED if another job of so many units exceeds the limits, and
// UNPROCESSABLE if it always would. Concurrent calls are serialized by a row lock.
func (q Quota) check(ctx context.Context, t *db.Tx, kind Kind, units int) error {
	if most := min(q.ClientCodes, q.Codes); kind == GenerateCodes && units > most {
		return store.Unprocessablef([]string{"count"}, "must be at most %d, got %d; split the request", most, units)
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
		FROM job WHERE finished_at = 0`, string(t.Actor), string(GenerateCodes))
	switch {
	case err != nil:
		return err
	case jobs >= int64(q.ClientJobs):
		return quotaError(nil, "This client has %d queued or running jobs; the limit is %d", jobs, q.ClientJobs)
	case kind != GenerateCodes:
		return nil
	case own+int64(units) > int64(q.ClientCodes):
		return quotaError([]string{"count"}, "is too high, %d: this client already waits for %d codes; the limit is %d", units, own, q.ClientCodes)
	case all+int64(units) > int64(q.Codes):
		return quotaError([]string{"count"}, "is too high, %d: all clients wait for %d codes; the limit is %d", units, all, q.Codes)
	}
	return nil
}

func quotaError(path []string, format string, args ...any) error {
	return &store.Error{Code: store.RateLimited, Path: path, Detail: fmt.Sprintf(format, args...) + "; retry when a job has finished, or cancel one"}
}
