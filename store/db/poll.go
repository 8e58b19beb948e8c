package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"portico/store"
	"portico/store/db/dialect"
	"portico/store/db/schema"
)

// TopicVersion returns a number that grows with each change of the topic that this
// process sees, and every reloadEvery.
func (s *DB) TopicVersion(name Topic) int64 {
	return s.topics.version(name).Load() + s.topics.reloads.Load()
}

// poll watches the change table and the database file until the store closes.
func (s *DB) poll(ctx context.Context) {
	defer close(s.pollDone)
	began := time.Now() // of the last poll
	timer := time.NewTimer(PollEvery)
	defer timer.Stop()
	for {
		requested := false
		select {
		case <-s.closing:
			return
		case <-s.pools.FileGuard.WhenReplaced():
			s.stopServing()
			return
		case <-timer.C:
		case <-s.polls.requested:
			requested = true
		case <-s.polls.hastened:
			if early := hastenGap - time.Since(began); early > 0 {
				timer.Reset(early)
				continue
			}
		}
		began = time.Now()
		err := s.pools.FileGuard.Check()
		if err == nil {
			err = s.pollOnce(ctx, s.polls.idle.Load() && !requested)
		}
		time.Sleep(pollGap)
		timer.Reset(s.pause(err != nil))
	}
}

// pollOnce reads what changed and wakes those who wait for the poll. idle is true if nobody waits and no request came for a while.
func (s *DB) pollOnce(ctx context.Context, idle bool) error {
	timeout := 5 * time.Second
	if idle { // saves the ping; the next poll has it
		ctx, timeout = dialect.WithoutPing(ctx), time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	end := s.polls.begin()
	err := errors.Join(s.refresh(ctx, idle), s.checkReadOnly(ctx))
	end(err)
	if err != nil && store.AsErrors(err)[0].Code != store.Unavailable { // those are logged already
		s.Log.Warn("could not poll for changes by other processes", "error", err)
	}
	s.errorLog.flush()
	return err
}

// pause returns the time until the next poll. From then on, CountRequest wants the poll at once if
// the server is idle.
func (s *DB) pause(failed bool) time.Duration {
	requests := s.requests.Load()
	wait, idle := s.pace.next(time.Now(), pollState{
		requests: requests, watched: !s.polls.mayIdle.Load() || s.hooks.Watched != nil && s.hooks.Watched(),
		listening: s.listening.Load(), failed: failed || s.identityGuard.check() != nil,
	})
	s.polls.idle.Store(idle)
	if idle && (s.requests.Load() != requests || !s.listening.Load()) { // changed before idle was set, so nobody requested a poll
		s.polls.idle.Store(false)
		return PollEvery
	}
	return wait
}

// IdleWithoutRequests lets polls slow down while there are no requests. Call it before the first
// request, if CountRequest is called for each.
func (s *DB) IdleWithoutRequests() { s.polls.mayIdle.Store(true) }

// CountRequest counts a request, for which throttled jobs pause. The first request of an idle server
// waits for a poll, at most PollEvery, so that it never sees data that another process has
// replaced longer ago.
func (s *DB) CountRequest(ctx context.Context) {
	s.requests.Add(1)
	if s.polls.idle.Load() {
		s.awaitPoll(ctx)
	}
}

// awaitPoll returns after the next poll, or after PollEvery.
func (s *DB) awaitPoll(ctx context.Context) {
	late := time.NewTimer(PollEvery)
	defer late.Stop()
	select {
	case <-s.polls.join().done:
	case <-late.C:
		s.polls.idle.Store(false) // the database hangs: later requests do not wait
	case <-ctx.Done():
	case <-s.closing:
	}
}

// readVersions reads the database's identity, the versions of all topics, and whether background work
// waits, with one statement.
func (s *DB) readVersions(ctx context.Context) (identity string, found Poll, err error) {
	found = Poll{Versions: map[Topic]int64{}, Asked: time.Now()}
	_, err = Collect(ctx, s.poller, func(rows *sql.Rows) (none struct{}, err error) {
		var name sql.NullString
		var version sql.NullInt64
		var work int
		if err = rows.Scan(&identity, &work, &name, &version); err == nil && name.Valid {
			found.Versions[Topic(name.String)] = version.Int64
		}
		found.Work = work > 0
		return none, err
	}, `SELECT d.identity, d.work, change.topic, change.version
		FROM (SELECT `+s.pools.Identity()+` AS identity, `+cmp.Or(s.hooks.WorkSQL, "0")+` AS work) AS d LEFT JOIN change ON TRUE`)
	return identity, found, err
}

// refresh polls once and applies what changed, in this order: another database, or an earlier state of it, suspends reads
// and writes (identityGuard); changed topics are counted; every reloadEvery all values are read again; hooks follow. Only
// then do requests count as having seen the versions.
func (s *DB) refresh(ctx context.Context, idle bool) error {
	identity, found, err := s.readVersions(ctx)
	if err != nil {
		return err
	}
	found.Idle = idle
	versions, asked := found.Versions, found.Asked
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
		if s.topics.version(name) == nil || s.topics.seen[name] == version {
			continue
		}
		s.topics.seen[name] = version
		if !s.polls.hasBumped(name, version) { // BumpTopic has called topicChanged for this process's own writes
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
		found.Versions = maps.Clone(versions) // the hook may change the map
		if err := s.hooks.Polled(ctx, found); err != nil {
			return err
		}
	}
	s.polls.markLoaded(versions)
	return nil
}

// reload makes every TopicCache read its value again. It calls the hook for the catalog alone: subscribers of
// catalogs then look again at what is served.
func (s *DB) reload() {
	s.topics.reloads.Add(1)
	s.notifyChanged(TopicCatalog)
}

// topicChanged counts a change of a topic and calls the hook.
func (s *DB) topicChanged(name Topic) {
	s.topics.version(name).Add(1)
	s.notifyChanged(name)
}

// notifyChanged calls the hook for a changed topic.
func (s *DB) notifyChanged(name Topic) {
	if s.hooks.Changed != nil {
		s.hooks.Changed(name)
	}
}

// BumpTopic increments the topic's version in t. This process sees the change after
// the commit, other processes with their next poll.
func (s *DB) BumpTopic(ctx context.Context, t *Tx, name Topic) error {
	version, err := t.bump(ctx, name)
	if err != nil {
		return err
	}
	t.AfterCommit(func() {
		s.polls.markBumped(name, version)
		s.topicChanged(name)
	})
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
	s.pools.Reset() // connections may hold plans for dropped tables
	s.topics.mu.Lock()
	s.topics.seen = maps.Clone(versions)
	s.topics.mu.Unlock()
	if s.hooks.Replaced != nil {
		s.hooks.Replaced()
	}
	s.Cache.clear()
	cached := []Topic{TopicSettings, TopicCatalog, TopicKeys, TopicClients}
	for _, name := range cached { // before reads resume, so that none gets a value of the replaced database
		s.topics.version(name).Add(1)
	}
	s.identityGuard.resume(identity)
	for _, name := range cached {
		s.notifyChanged(name)
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
	read := func(ctx context.Context, query string) ([]string, error) {
		return Collect(ctx, s.poller, Scalar[string], query)
	}
	if _, err := schema.Check(ctx, read, s.dialect, schema.KeepMode); err != nil {
		return "", err
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
	query := s.dialect.PrimaryKeys()
	if query == "" {
		return nil, nil
	}
	return Collect(ctx, s.poller, Scalar[string], query)
}

// stopServing stops serving cached data and all reads. It is called once the database file was replaced.
func (s *DB) stopServing() {
	s.Log.Error("the database file was moved, replaced or overwritten; this server serves nothing until it is restarted", "file", s.pools.FileGuard.Path)
	for _, name := range []Topic{TopicSettings, TopicCatalog} { // cached values are no longer current, and nothing is served without these
		s.topics.version(name).Add(1)
	}
	if s.hooks.FileReplaced != nil {
		s.hooks.FileReplaced()
	}
	_ = s.pools.Read.Close()
}
