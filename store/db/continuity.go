package db

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
)

// continuity tells whether the database is still the one that this process
// read before. A database that is dropped, created and restored under a
// running server has the same name, and for a while no rows: what is read of
// it then is no answer, and what was kept of the former one is no answer
// either.
//
// It is in doubt from the first sign of another database until the new one is
// complete and two reads of it agree. In doubt, every read and every write
// fails with store.ErrReplaced. Its methods may be called from many
// goroutines; those of a nil continuity do nothing.
type continuity struct {
	phase   atomic.Int64 // odd while in doubt; it only grows
	doubted func()       // called once at the beginning of each doubt
	log     func(message string, args ...any)

	mu       sync.Mutex
	identity string    // of the database that is known; empty until armed
	found    string    // what a read of a complete database found in doubt; empty for none
	foundAt  time.Time // when that was first found
	toldAt   time.Time // when the log last said why the doubt goes on
}

const (
	agreeAfter = time.Second      // between the two reads that must agree
	tellEvery  = 10 * time.Second // how often the log says why the doubt goes on
)

// enter begins a read or a write. It returns store.ErrReplaced in doubt, else
// the phase for left.
func (c *continuity) enter() (phase int64, err error) {
	if c == nil {
		return 0, nil
	}
	if phase = c.phase.Load(); phase%2 == 1 {
		return phase, store.ErrReplaced
	}
	return phase, nil
}

// left returns store.ErrReplaced where a doubt has begun since enter, so that
// what was read may be of either database.
func (c *continuity) left(phase int64) error {
	if c != nil && c.phase.Load() != phase {
		return store.ErrReplaced
	}
	return nil
}

// check returns store.ErrReplaced in doubt.
func (c *continuity) check() error {
	_, err := c.enter()
	return err
}

// arm sets the identity of the database that was opened. Before, identify and
// doubt do nothing.
func (c *continuity) arm(identity string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.identity = identity
}

// identify compares the identity that a connection or a poll has read, and
// begins a doubt where it is another one.
func (c *continuity) identify(identity string) {
	c.mu.Lock()
	known := c.identity
	c.mu.Unlock()
	if known != "" && identity != known {
		c.doubt("it is another database under the same name")
	}
}

// doubt begins one, and says why in the log. It does nothing in doubt.
func (c *continuity) doubt(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.identity == "" || c.phase.Load()%2 == 1 {
		return
	}
	c.phase.Add(1)
	c.found, c.toldAt = "", time.Now()
	c.log("the database was replaced or restored; requests get 503 until it is complete", "reason", reason)
	if c.doubted != nil {
		c.doubted()
	}
}

// incomplete notes that a read in doubt found the database incomplete.
func (c *continuity) incomplete(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = ""
	if time.Since(c.toldAt) >= tellEvery {
		c.toldAt = time.Now()
		c.log("the database is still incomplete; requests get 503", "reason", reason)
	}
}

// agrees notes what a read in doubt found of a complete database. It tells
// whether a read at least agreeAfter before found the same.
func (c *continuity) agrees(found string, asked time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found != found {
		c.found, c.foundAt = found, asked
		return false
	}
	return asked.Sub(c.foundAt) >= agreeAfter
}

// end ends the doubt; the database that is known from now on has an identity.
func (c *continuity) end(identity string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.identity = identity
	c.phase.Add(1)
}

// Epoch is another number once the database was replaced under this process, so
// that keys of what is kept in memory do not repeat.
func (s *DB) Epoch() int64 { return s.continuity.phase.Load() }

// settle looks at the database in doubt. It ends the doubt where the database
// is complete and two reads agree: then everything that this process keeps of
// it is read anew.
func (s *DB) settle(ctx context.Context, identity string, versions map[Topic]int64, asked time.Time) error {
	if back := s.topics.wentBack(versions); back != "" { // since the look before
		s.continuity.incomplete(errors.New(back))
		return nil
	}
	found, err := s.complete(ctx)
	if err != nil {
		s.continuity.incomplete(err)
		return nil
	}
	if !s.continuity.agrees(identity+" "+found, asked) {
		return nil
	}
	s.pools.reset() // connections know tables that are gone
	s.topics.mu.Lock()
	s.topics.seen = maps.Clone(versions)
	s.topics.mu.Unlock()
	if s.hooks.Replaced != nil {
		s.hooks.Replaced()
	}
	s.continuity.end(identity)
	s.Cache.forget()
	for _, name := range []Topic{TopicSettings, TopicCatalog, TopicKeys, TopicClients} {
		s.noticed(name)
	}
	s.Log.Warn("the database is complete; everything that was kept of it is read anew")
	return nil
}

// complete describes what the database holds; the error says what it lacks. A
// restore loads a table at a time, in an order of its own, and makes primary
// keys last.
func (s *DB) complete(ctx context.Context) (found string, err error) {
	keyed, err := s.primaryKeys(ctx)
	if err != nil {
		return "", err
	}
	for _, table := range s.keyed {
		if !slices.Contains(keyed, table) {
			return "", fmt.Errorf("the table %s, or its primary key, is missing", table)
		}
	}
	files, err := Migrations()
	if err != nil {
		return "", err
	}
	applied, err := s.refuseNewer(ctx, s.read, len(files))
	if err != nil {
		return "", err
	}
	if applied < len(files) {
		return "", fmt.Errorf("its schema is that of an older version (%d of %d migrations); run portico migrate", applied, len(files))
	}
	if _, err := ReadSettings(ctx, s.poller); err != nil {
		return "", err
	}
	if s.hooks.Complete == nil {
		return strings.Join(keyed, " "), nil
	}
	return s.hooks.Complete(ctx, s.poller)
}

// primaryKeys lists the tables of the schema that have a primary key; none
// where the dialect has no need of it.
func (s *DB) primaryKeys(ctx context.Context) ([]string, error) {
	query := s.dialect.primaryKeys()
	if query == "" {
		return nil, nil
	}
	return Collect(ctx, s.poller, Scalar[string], query)
}
