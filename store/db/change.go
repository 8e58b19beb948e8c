package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
)

// Topic is something other processes may change under a running server.
type Topic string

const (
	TopicSettings Topic = "settings"
	TopicCatalog  Topic = "catalog" // catalogs, rules and which release is served
	TopicKeys     Topic = "keys"    // signing keys
	TopicClients  Topic = "clients" // API clients
)

// PollEvery bounds how long a server serves what another process replaced.
const PollEvery = 250 * time.Millisecond

// topics count how often each topic changed, as this process noticed. They
// only grow, so that a value read before a change never passes for one read
// after it.
type topics struct {
	settings, catalog, keys, clients atomic.Int64

	cycle atomic.Int64 // how often everything was due to be read anew, whether it changed or not

	mu     sync.Mutex
	seen   map[Topic]int64 // the table's versions
	all    map[Topic]int64 // those of topics that a hook follows too
	cycled time.Time       // when cycle last grew
}

// reloadEvery is how long a value is kept that no version says has changed, as
// of a table that was written by hand or restored by itself.
const reloadEvery = 30 * time.Second

// wentBack takes the versions in. It says which of them is that of a time before
// what was seen, as of a backup that was restored, or a standby that lacked the
// last writes when it took over; empty for none.
func (t *topics) wentBack(versions map[Topic]int64) (reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, seen := range t.all {
		if version, there := versions[name]; !there || version < seen {
			reason = fmt.Sprintf("it went back to an earlier state: version %d of %s, after %d", version, name, seen)
		}
	}
	t.all = versions
	return reason
}

// version is nil for the topics that a hook follows.
func (t *topics) version(name Topic) *atomic.Int64 {
	switch name {
	case TopicSettings:
		return &t.settings
	case TopicCatalog:
		return &t.catalog
	case TopicClients:
		return &t.clients
	case TopicKeys:
		return &t.keys
	}
	return nil
}

// TopicVersion grows whenever a topic changed, as this process noticed, and each
// reloadEvery.
func (s *DB) TopicVersion(name Topic) int64 {
	return s.topics.version(name).Load() + s.topics.cycle.Load()
}

// poll follows the change table, and the place of its file, until the store
// closes.
func (s *DB) poll() {
	defer close(s.polled)
	ticker := time.NewTicker(PollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-s.home.whenLeft():
			s.leave()
			return
		case <-ticker.C:
		case <-s.polls.asked:
		}
		if s.home.check() != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		end := s.polls.begin()
		err := errors.Join(s.refresh(ctx), s.lookReadOnly(ctx))
		end(err)
		if err != nil && store.AsErrors(err)[0].Code != store.Unavailable { // which is told already
			s.Log.Warn("could not look for changes by other processes", "error", err)
		}
		cancel()
		s.troubles.tellRest()
		time.Sleep(pollGap)
	}
}

// readVersions reads which database this is, and the versions of all topics.
func (s *DB) readVersions(ctx context.Context) (identity string, versions map[Topic]int64, err error) {
	versions = map[Topic]int64{}
	_, err = Collect(ctx, s.poller, func(rows *sql.Rows) (none struct{}, err error) {
		var name sql.NullString
		var version sql.NullInt64
		if err = rows.Scan(&identity, &name, &version); err == nil && name.Valid {
			versions[Topic(name.String)] = version.Int64
		}
		return none, err
	}, `SELECT d.identity, change.topic, change.version FROM (SELECT `+s.pools.identity()+` AS identity) AS d LEFT JOIN change ON TRUE`)
	return identity, versions, err
}

// refresh takes note of what changed.
func (s *DB) refresh(ctx context.Context) error {
	asked := time.Now()
	identity, versions, err := s.readVersions(ctx)
	if err != nil {
		return err
	}
	s.continuity.identify(identity)
	if s.continuity.check() != nil {
		return s.settle(ctx, identity, versions, asked)
	}
	if reason := s.topics.wentBack(versions); reason != "" {
		s.continuity.doubt(reason)
		return nil
	}
	s.topics.mu.Lock()
	if s.topics.seen == nil {
		s.topics.seen = map[Topic]int64{}
	}
	for name, version := range versions {
		if s.topics.version(name) != nil && s.topics.seen[name] != version {
			s.topics.seen[name] = version
			s.noticed(name)
		}
	}
	due := !s.topics.cycled.IsZero() && asked.Sub(s.topics.cycled) >= reloadEvery
	if due || s.topics.cycled.IsZero() {
		s.topics.cycled = asked
	}
	s.topics.mu.Unlock()
	if due {
		s.reload()
	}
	if s.hooks.Polled != nil {
		if err := s.hooks.Polled(ctx, maps.Clone(versions), asked); err != nil { // which the hook may take from
			return err
		}
	}
	s.polls.took(versions)
	return nil
}

// reload has every Watched value be read anew, where the database answers.
func (s *DB) reload() {
	s.topics.cycle.Add(1)
	if s.hooks.Changed != nil {
		s.hooks.Changed(TopicCatalog)
	}
}

// noticed counts a change of a topic, and wakes those who follow it.
func (s *DB) noticed(name Topic) {
	s.topics.version(name).Add(1)
	if s.hooks.Changed != nil {
		s.hooks.Changed(name)
	}
}

// Changed bumps a topic and has this process see it as soon as it is durable.
func (s *DB) Changed(ctx context.Context, t *Tx, name Topic) error {
	if err := t.bump(ctx, name); err != nil {
		return err
	}
	t.AfterCommit(func() { s.noticed(name) })
	return nil
}

// Watched is a value read from the database once, again whenever its topic
// changes, and again each reloadEvery.
type Watched[T any] struct {
	mu      sync.Mutex
	version int64
	cycle   int64
	loaded  bool
	value   T
}

// Get returns the value of the topic's current version; store.ErrReplaced while
// the database may be another one.
func (w *Watched[T]) Get(ctx context.Context, s *DB, name Topic, load func(context.Context) (T, error)) (T, error) {
	version, cycle := s.topics.version(name).Load(), s.topics.cycle.Load() // before loading: a change meanwhile loads again
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := s.continuity.check(); err != nil {
		var none T
		return none, err
	}
	current := w.loaded && w.version == version
	if current && w.cycle == cycle {
		return w.value, nil
	}
	value, err := load(ctx)
	switch {
	case err == nil:
		w.value, w.version, w.loaded = value, version, true
	case !current || errors.Is(err, store.ErrReplaced):
		return value, err
	}
	w.cycle = cycle // where it failed, what is known is as good as before
	return w.value, nil
}
