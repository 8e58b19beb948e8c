package db

import (
	"context"

	"portico/store"
)

// Sequence reserves n consecutive numbers and returns the first. They order events
// that happen in the same millisecond.
func (t *Tx) Sequence(ctx context.Context, n int) (int64, error) {
	last, _, err := One(ctx, t.Session, Scalar[int64],
		`UPDATE counter SET value = value + $1 WHERE name = 'sequence' RETURNING value`, n)
	return last - int64(n) + 1, err
}

// ForUpdate is a query suffix that locks the rows of table, in the query's order,
// until this write ends.
func (t *Tx) ForUpdate(table string) string { return t.db.dialect.ForUpdate(table) }

// ForShare is like ForUpdate, but lets other writes lock the rows in the same way.
func (t *Tx) ForShare(table string) string { return t.db.dialect.ForShare(table) }

// SkipLocked is like ForUpdate, but skips rows that another transaction has locked.
func (t *Tx) SkipLocked(table string) string { return t.db.dialect.SkipLocked(table) }

// PrepareBulk prepares the transaction for many rows, by Dialect.Bulk.
func (t *Tx) PrepareBulk(ctx context.Context) error { return t.bulk(ctx, t.db.dialect) }

// run runs the function of a write, and stores the events that it recorded.
func (t *Tx) run(ctx context.Context, fn func(context.Context, *Tx) error) error {
	return RecoverPanic(func() error {
		if err := fn(ctx, t); err != nil {
			return err
		}
		return t.storeEvents(ctx)
	})
}

// AfterCommit runs f after the commit; never if the write fails.
func (t *Tx) AfterCommit(f func()) { t.afterCommit = append(t.afterCommit, f) }

// Announce tells other servers after the commit that background work waits.
func (t *Tx) Announce() { t.AfterCommit(t.db.announce) }

// bump raises a topic's version, which every server polls, to the time in microseconds, or by one if it is later already.
// The consistency token of the caller gets it.
func (t *Tx) bump(ctx context.Context, topic Topic) (version int64, err error) {
	version, _, err = One(ctx, t.Session, Scalar[int64], `
		INSERT INTO change (topic, version) VALUES ($1, $2)
		ON CONFLICT (topic) DO UPDATE SET version = CASE WHEN change.version < $2 THEN $2 ELSE change.version + 1 END
		RETURNING version`, string(topic), store.Micros(t.Now))
	t.SetVersion(topic, version)
	return version, err
}

// SetVersion adds a version to the consistency token of the write's caller.
func (t *Tx) SetVersion(topic Topic, version int64) {
	if t.versions == nil {
		t.versions = store.ConsistencyToken{}
	}
	t.versions[string(topic)] = version
}

// committed tells this process, other servers and the caller what was written, then runs the functions of AfterCommit.
func (t *Tx) committed() {
	t.db.polls.markWritten(t.versions)
	if len(t.versions) > 0 {
		t.db.announce()
	}
	store.ReportWrite(t.caller, t.versions)
	for _, f := range t.afterCommit {
		f()
	}
}
