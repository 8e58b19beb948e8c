// Package purge finds out what changed of what shoppers see, and queues a Call of the purge hook for it.
// Service keeps the queue in the database, so that one of several servers makes each call, and a
// restart loses none. It must not make the calls.
package purge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"time"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/db"
)

// Service queues calls of the purge hook.
type Service struct{ db *db.DB }

// NewService returns a service for a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// Call is a call of the purge hook. Several changes of a catalog become one call while it waits.
type Call struct {
	ID        string              // the same for each attempt
	CatalogID string              // empty for all catalogs
	ReleaseID int64               // that the catalog serves; 0 for all catalogs
	Changed   *dependency.Changes // since the last call; everything if that is not known
	Since     time.Time           // of the oldest change
	Repeat    bool                // the second call for the same change (callsPerChange)
	Attempt   int                 // 0 for the first

	revision int64 // raised by each change that is added to the call while it waits
}

const (
	// callsPerChange: another server may answer from the old release for up to a second, or finish a
	// request that began before. So each change is called again after repeatAfter.
	callsPerChange = 2
	repeatAfter    = 5 * time.Second

	// Lease is how long a server may take for a call. Then another server makes it.
	Lease = 30 * time.Second
)

const callColumns = `catalog_id, release_id, revision, calls, attempts, created_at, ` + changedColumn

// changedColumn is what changed. It is not known if another version of the program queued the call.
const changedColumn = `CASE WHEN changed_revision = revision THEN changed ELSE '' END`

func scanCall(rows *sql.Rows) (*Call, error) {
	c := &Call{}
	var calls, created int64
	var changed []byte
	if err := rows.Scan(&c.CatalogID, &c.ReleaseID, &c.revision, &calls, &c.Attempt, &created, &changed); err != nil {
		return nil, err
	}
	var err error
	c.Changed, err = dependency.UnpackChanges(changed)
	c.Repeat, c.Since = calls < callsPerChange, store.FromMicros(created)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d", c.CatalogID, created, c.revision, calls))
	c.ID = hex.EncodeToString(sum[:16])
	return c, err
}

// Next returns how long to wait for the next call that may be due; found is false without any.
func (s *Service) Next(ctx context.Context) (wait time.Duration, found bool, err error) {
	left, _, err := db.One(ctx, s.db.Reader, db.Scalar[sql.NullInt64], `
		SELECT MIN(CASE WHEN due_at > leased_until THEN due_at ELSE leased_until END) - `+s.db.ClockSQL()+` FROM purge_call`)
	return max(0, time.Duration(left.Int64)*time.Microsecond), left.Valid, err
}

// Claim returns a call that is due, for this server to make within Lease; nil if there is none.
func (s *Service) Claim(ctx context.Context) (call *Call, err error) {
	now := s.db.ClockSQL()
	err = s.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		call, _, err = db.One(ctx, t.Session, scanCall, `
			UPDATE purge_call SET leased_until = `+now+` + $1
			WHERE catalog_id = (SELECT catalog_id FROM purge_call WHERE due_at <= `+now+` AND leased_until <= `+now+` ORDER BY due_at, catalog_id LIMIT 1)
			  AND leased_until <= `+now+`
			RETURNING `+callColumns, Lease.Microseconds())
		return err
	})
	return call, err
}

// Finish records that a call succeeded. If more changed meanwhile, the next call is due at once.
func (s *Service) Finish(ctx context.Context, call *Call) error {
	return s.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		if call.Repeat {
			n, err := t.Exec(ctx, `DELETE FROM purge_call WHERE catalog_id = $1 AND revision = $2`, call.CatalogID, call.revision)
			if err != nil || n > 0 {
				return err
			}
		}
		now := s.db.ClockSQL()
		_, err := t.Exec(ctx, `
			UPDATE purge_call SET attempts = 0, leased_until = 0, calls = CASE WHEN revision = $2 THEN calls - 1 ELSE calls END,
			       due_at = CASE WHEN revision = $2 THEN `+now+` + $3 ELSE `+now+` END
			WHERE catalog_id = $1`, call.CatalogID, call.revision, repeatAfter.Microseconds())
		return err
	})
}

// Retry records that a call failed. Any server makes it again after a time. With 0 it was not made.
func (s *Service) Retry(ctx context.Context, call *Call, after time.Duration) error {
	return s.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		_, err := t.Exec(ctx, `UPDATE purge_call SET attempts = attempts + $3, leased_until = 0, due_at = `+s.db.ClockSQL()+` + $2 WHERE catalog_id = $1`,
			call.CatalogID, after.Microseconds(), min(after.Microseconds(), 1))
		return err
	})
}

// Pending returns how many calls wait, and the age of the oldest change that none has succeeded for.
func (s *Service) Pending(ctx context.Context) (calls int, oldest time.Duration, err error) {
	row, _, err := db.One(ctx, s.db.Reader, db.ScanPair[int, int64], `
		SELECT COUNT(*), COALESCE(MAX(CASE WHEN calls = $1 THEN `+s.db.ClockSQL()+` - created_at ELSE 0 END), 0) FROM purge_call`, callsPerChange)
	return row.Key, time.Duration(row.Value) * time.Microsecond, err
}
