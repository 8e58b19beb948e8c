package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"portico/store"
)

// TopicVersion returns a number that grows with each change of the topic that this
// process sees, and every reloadEvery.
func (s *DB) TopicVersion(name Topic) int64 {
	return s.topics.version(name).Load() + s.topics.reloads.Load()
}

// poll watches the change table and the database file until the store closes.
func (s *DB) poll() {
	defer close(s.pollDone)
	ticker := time.NewTicker(PollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-s.fileGuard.whenReplaced():
			s.stopServing()
			return
		case <-ticker.C:
		case <-s.polls.requested:
		}
		if s.fileGuard.check() != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		end := s.polls.begin()
		err := errors.Join(s.refresh(ctx), s.checkReadOnly(ctx))
		end(err)
		if err != nil && store.AsErrors(err)[0].Code != store.Unavailable { // those are logged already
			s.Log.Warn("could not poll for changes by other processes", "error", err)
		}
		cancel()
		s.errorLog.flush()
		time.Sleep(pollGap)
	}
}

// readVersions reads the database's identity and the versions of all topics.
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

// refresh polls once and applies what changed.
func (s *DB) refresh(ctx context.Context) error {
	asked := time.Now()
	identity, versions, err := s.readVersions(ctx)
	if err != nil {
		return err
	}
	s.identityGuard.identify(identity)
	if s.identityGuard.check() != nil {
		return s.checkReplacement(ctx, identity, versions, asked)
	}
	if reason := s.topics.detectRollback(versions); reason != "" {
		s.identityGuard.suspend(reason)
		return nil
	}
	s.topics.mu.Lock()
	if s.topics.seen == nil {
		s.topics.seen = map[Topic]int64{}
	}
	for name, version := range versions {
		if s.topics.version(name) != nil && s.topics.seen[name] != version {
			s.topics.seen[name] = version
			s.topicChanged(name)
		}
	}
	due := !s.topics.reloadedAt.IsZero() && asked.Sub(s.topics.reloadedAt) >= reloadEvery
	if due || s.topics.reloadedAt.IsZero() {
		s.topics.reloadedAt = asked
	}
	s.topics.mu.Unlock()
	if due {
		s.reload()
	}
	if s.hooks.Polled != nil {
		if err := s.hooks.Polled(ctx, maps.Clone(versions), asked); err != nil { // the hook may change the map
			return err
		}
	}
	s.polls.markLoaded(versions)
	return nil
}

// reload makes every TopicCache read its value again.
func (s *DB) reload() {
	s.topics.reloads.Add(1)
	if s.hooks.Changed != nil {
		s.hooks.Changed(TopicCatalog)
	}
}

// topicChanged counts a change of a topic and calls the hook.
func (s *DB) topicChanged(name Topic) {
	s.topics.version(name).Add(1)
	if s.hooks.Changed != nil {
		s.hooks.Changed(name)
	}
}

// BumpTopic increments the topic's version in t. This process sees the change after
// the commit, other processes with their next poll.
func (s *DB) BumpTopic(ctx context.Context, t *Tx, name Topic) error {
	if err := t.bump(ctx, name); err != nil {
		return err
	}
	t.AfterCommit(func() { s.topicChanged(name) })
	return nil
}

// checkReplacement checks the database during a suspension. If it is complete and two reads
// agree, it ends the suspension and reloads everything this process has cached.
func (s *DB) checkReplacement(ctx context.Context, identity string, versions map[Topic]int64, asked time.Time) error {
	if back := s.topics.detectRollback(versions); back != "" {
		s.identityGuard.markIncomplete(errors.New(back))
		return nil
	}
	found, err := s.checkComplete(ctx)
	if err != nil {
		s.identityGuard.markIncomplete(err)
		return nil
	}
	if !s.identityGuard.confirms(identity+" "+found, asked) {
		return nil
	}
	s.pools.reset() // connections may hold plans for dropped tables
	s.topics.mu.Lock()
	s.topics.seen = maps.Clone(versions)
	s.topics.mu.Unlock()
	if s.hooks.Replaced != nil {
		s.hooks.Replaced()
	}
	s.identityGuard.resume(identity)
	s.Cache.clear()
	for _, name := range []Topic{TopicSettings, TopicCatalog, TopicKeys, TopicClients} {
		s.topicChanged(name)
	}
	s.Log.Warn("the replaced database is complete; reloaded everything")
	return nil
}

// checkComplete returns a description of what the database holds, or an error that says
// what is missing. A restore loads table by table and creates primary keys last.
func (s *DB) checkComplete(ctx context.Context) (found string, err error) {
	keyed, err := s.primaryKeys(ctx)
	if err != nil {
		return "", err
	}
	for _, table := range s.keyedTables {
		if !slices.Contains(keyed, table) {
			return "", fmt.Errorf("the table %s or its primary key is missing", table)
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
		return "", fmt.Errorf("its schema is of an older version (%d of %d migrations); run portico migrate", applied, len(files))
	}
	if _, err := ReadSettings(ctx, s.poller); err != nil {
		return "", err
	}
	if s.hooks.CheckComplete == nil {
		return strings.Join(keyed, " "), nil
	}
	return s.hooks.CheckComplete(ctx, s.poller)
}

// primaryKeys lists the tables that have a primary key; none on SQLite.
func (s *DB) primaryKeys(ctx context.Context) ([]string, error) {
	query := s.dialect.primaryKeys()
	if query == "" {
		return nil, nil
	}
	return Collect(ctx, s.poller, Scalar[string], query)
}

// stopServing stops serving cached data and all reads.
func (s *DB) stopServing() {
	s.Log.Error("the database file was moved or replaced; this server serves nothing until it is restarted", "file", s.fileGuard.path)
	for _, name := range []Topic{TopicSettings, TopicCatalog} { // nothing is served without these
		s.topics.version(name).Add(1)
	}
	if s.hooks.FileReplaced != nil {
		s.hooks.FileReplaced()
	}
	_ = s.read.Close()
}
