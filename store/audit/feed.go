package audit

import (
	"context"
	"strconv"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
)

// Changes is a page of the feed: events in the order of their commits.
type Changes struct {
	Events  []*store.AuditEvent
	HasNext bool
	Latest  string // cursor of the newest event

	cursors *store.CursorKey
}

// Cursor returns the cursor of an event of the page.
func (c *Changes) Cursor(event int) string { return positionOf(c.Events[event]).sign(c.cursors) }

// feedList names the cursors of the feed.
var feedList = store.NewListID(cachekey.New("changes"))

// position is a place in the feed: the number of an event, and its time in microseconds, by which a cursor notices
// that the database was restored. 0 and 0 are before the first event.
type position struct{ number, at int64 }

func (p position) sign(cursors *store.CursorKey) string {
	return cursors.Sign(store.Cursor{List: feedList, Position: int(p.number), Release: p.at})
}

// positionOf is the place after an event.
func positionOf(e *store.AuditEvent) position {
	number, _ := strconv.ParseInt(e.ID, 16, 64) // which db.AuditID wrote
	return position{number, store.Micros(e.At)}
}

// Changes returns the events after a cursor, the oldest first, at most first. Without a cursor it begins with the
// oldest event that is kept. A reader that always sends the last cursor gets each event once, and in an order in which
// no event comes later than one that was committed after it. It returns CURSOR_EXPIRED for a cursor after which events
// were deleted, or that comes from a later state of a database that was restored since.
func (s *Service) Changes(ctx context.Context, first int, after string) (changes *Changes, err error) {
	if err := store.CheckLimit("first", first); err != nil {
		return nil, err
	}
	cursors, err := s.db.CursorKey(ctx)
	if err != nil {
		return nil, err
	}
	var from position
	if after != "" {
		c, err := cursors.Parse(after, feedList, "after")
		if err != nil {
			return nil, err
		}
		from = position{int64(c.Position), c.Release}
	}
	err = s.db.Snapshot(ctx, func(in db.Session) error {
		if after != "" {
			if err := checkKept(ctx, in, from); err != nil {
				return err
			}
		}
		changes = &Changes{cursors: cursors}
		events, err := db.Collect(ctx, in, scanEvent, `SELECT `+eventColumns+` FROM audit_event WHERE id > $1 ORDER BY id LIMIT $2`, db.AuditID(from.number), first+1)
		if err != nil {
			return err
		}
		changes.HasNext = len(events) > first
		changes.Events = events[:min(first, len(events))]
		latest, err := latestPosition(ctx, in)
		changes.Latest = latest.sign(cursors)
		return err
	})
	if err != nil {
		return nil, err
	}
	return changes, charge(ctx, changes.Events)
}

// latestPosition is the place after the newest event, or the newest deleted one if none is kept.
func latestPosition(ctx context.Context, in db.Session) (position, error) {
	newest, found, err := db.One(ctx, in, scanEvent, `SELECT `+eventColumns+` FROM audit_event ORDER BY id DESC LIMIT 1`)
	if err != nil {
		return position{}, err
	}
	if found {
		return positionOf(newest), nil
	}
	number, _, err := db.One(ctx, in, db.Scalar[int64], `SELECT value FROM counter WHERE name = 'audit'`)
	return position{number: number}, err
}

// checkKept returns CURSOR_EXPIRED unless all events after a place are kept.
func checkKept(ctx context.Context, in db.Session, from position) error {
	swept, _, err := db.One(ctx, in, db.Scalar[int64], `SELECT value FROM counter WHERE name = 'audit_swept'`)
	if err != nil {
		return err
	}
	const restart = "Begin anew: take latestCursor of `changes`, read everything that you keep, then continue from that cursor."
	switch {
	case from.number < swept:
		return expired("is older than the events that are kept, so changes are missing. " + restart)
	case from.number == swept: // the event is deleted, and all after it are kept
		return nil
	}
	at, found, err := db.One(ctx, in, db.Scalar[int64], `SELECT created_at FROM audit_event WHERE id = $1`, db.AuditID(from.number))
	if err == nil && (!found || at != from.at) {
		err = expired("is not of this state of the database, which was probably restored from a backup. " + restart)
	}
	return err
}

// expired returns CURSOR_EXPIRED.
func expired(detail string) error { return store.ExpiredCursor("after", detail) }
