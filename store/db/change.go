package db

import (
	"context"
	"database/sql"
	"errors"
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

	mu   sync.Mutex
	seen map[Topic]int64 // the table's versions
	all  map[Topic]int64 // those of topics that a hook follows too
	back time.Time       // when it was last told that they went back
}

// wentBack tells whether the versions are those of a time before what was seen,
// as of a backup that was restored, or a standby that lacked the last writes
// when it took over. It does so now and again where they go to and fro.
func (t *topics) wentBack(versions map[Topic]int64, now time.Time) bool {
	back := false
	for name, seen := range t.all {
		if version, there := versions[name]; !there || version < seen {
			back = true
		}
	}
	t.all = maps.Clone(versions) // which the hook may take from
	if !back || now.Sub(t.back) < troubleEvery {
		return false
	}
	t.back = now
	return true
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

// TopicVersion counts how often a topic changed, as this process noticed.
func (s *DB) TopicVersion(name Topic) int64 { return s.topics.version(name).Load() }

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
		}
		if s.home.check() != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		if err := errors.Join(s.refresh(ctx), s.lookReadOnly(ctx)); err != nil && store.AsErrors(err)[0].Code != store.Unavailable { // which is told already
			s.Log.Warn("could not look for changes by other processes", "error", err)
		}
		cancel()
		s.troubles.tellRest()
	}
}

// refresh takes note of what changed.
func (s *DB) refresh(ctx context.Context) error {
	asked := time.Now()
	type change struct {
		name    Topic
		version int64
	}
	list, err := Collect(ctx, s.Reader, func(rows *sql.Rows) (c change, err error) {
		return c, rows.Scan(&c.name, &c.version)
	}, `SELECT topic, version FROM change`)
	if err != nil {
		return err
	}
	versions := map[Topic]int64{}
	s.topics.mu.Lock()
	if s.topics.seen == nil {
		s.topics.seen = map[Topic]int64{}
	}
	for _, c := range list {
		versions[c.name] = c.version
		if s.topics.version(c.name) != nil && s.topics.seen[c.name] != c.version {
			s.topics.seen[c.name] = c.version
			s.noticed(c.name)
		}
	}
	back := s.topics.wentBack(versions, asked)
	s.topics.mu.Unlock()
	if back {
		s.Log.Warn("the database went back to an earlier state: a backup was restored, or a failover lost writes; what was kept of it is read anew")
	}
	if s.hooks.Polled == nil {
		return nil
	}
	return s.hooks.Polled(ctx, versions, asked)
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

// Watched is a value read from the database once and again whenever its topic
// changes.
type Watched[T any] struct {
	mu      sync.Mutex
	version int64
	loaded  bool
	value   T
}

// Get returns the value of the topic's current version.
func (w *Watched[T]) Get(ctx context.Context, s *DB, name Topic, load func(context.Context) (T, error)) (T, error) {
	version := s.topics.version(name).Load() // before loading: a change meanwhile loads again
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loaded && w.version == version {
		return w.value, nil
	}
	value, err := load(ctx)
	if err != nil {
		return value, err
	}
	w.value, w.version, w.loaded = value, version, true
	return value, nil
}
