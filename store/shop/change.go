package shop

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
)

// topic is something other processes may change under a running server.
type topic string

const (
	topicSettings topic = "settings"
	topicCatalog  topic = "catalog" // catalogs, rules and which release is served
	topicKeys     topic = "keys"    // signing keys
	topicClients  topic = "clients" // API clients
)

// pollEvery bounds how long a server serves what another process replaced.
const pollEvery = 250 * time.Millisecond

// topics count how often each topic changed, as this process noticed. They
// only grow, so that a value read before a change never passes for one read
// after it.
type topics struct {
	settings, catalog, keys, clients atomic.Int64

	mu   sync.Mutex
	seen map[topic]int64 // the table's versions
}

func (t *topics) version(name topic) *atomic.Int64 {
	switch name {
	case topicSettings:
		return &t.settings
	case topicCatalog:
		return &t.catalog
	case topicClients:
		return &t.clients
	}
	return &t.keys
}

// poll follows the change table, and the place of its file, until the store
// closes.
func (s *Store) poll() {
	defer close(s.polled)
	ticker := time.NewTicker(pollEvery)
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
			s.log.Warn("could not look for changes by other processes", "error", err)
		}
		cancel()
		s.troubles.tellRest()
	}
}

// refresh takes note of what changed.
func (s *Store) refresh(ctx context.Context) error {
	asked := time.Now()
	type change struct {
		name    topic
		version int64
	}
	list, err := collect(ctx, s.reader, func(rows *sql.Rows) (c change, err error) {
		return c, rows.Scan(&c.name, &c.version)
	}, `SELECT topic, version FROM change`)
	if err != nil {
		return err
	}
	lanes := map[topic]int64{}
	s.topics.mu.Lock()
	if s.topics.seen == nil {
		s.topics.seen = map[topic]int64{}
	}
	for _, c := range list {
		if strings.HasPrefix(string(c.name), stockTopics) {
			lanes[c.name] = c.version
		} else if s.topics.seen[c.name] != c.version {
			s.topics.seen[c.name] = c.version
			s.noticed(c.name)
		}
	}
	s.topics.mu.Unlock()
	return errors.Join(s.followStock(ctx, lanes, asked), s.followJobs(ctx))
}

// noticed counts a change of a topic, and wakes those who follow it.
func (s *Store) noticed(name topic) {
	s.topics.version(name).Add(1)
	if name == topicCatalog {
		s.catalogWatch.wake()
	}
}

// changed bumps a topic and has this process see it as soon as it is durable.
func (s *Store) changed(ctx context.Context, t *tx, name topic) error {
	if err := t.bump(ctx, name); err != nil {
		return err
	}
	t.afterCommit(func() { s.noticed(name) })
	return nil
}

// watched is a value read from the database once and again whenever its topic
// changes.
type watched[T any] struct {
	mu      sync.Mutex
	version int64
	loaded  bool
	value   T
}

// get returns the value of the topic's current version.
func (w *watched[T]) get(ctx context.Context, s *Store, name topic, load func(context.Context) (T, error)) (T, error) {
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
