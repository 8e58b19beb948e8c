package db_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"portico/store/db"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestIdleServer: a server without requests polls once an hour here, and still sees other servers'
// writes: at once by their notifications, before its next request without one, and by polling when
// the connection for notifications is lost.
func TestIdleServer(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		backend.PostgresOnly(t)
		noticed := make(chan db.Topic, 100)
		idle := follow(t, backend, noticed, func(d *db.DB) { d.SetIdle(0, time.Hour) })
		other := follow(t, backend, nil, nil)
		bumpSilently := func() { // as an older version of the program, or a server that stops before it notifies
			testkit.Eventually(t, nil, func() error { // the test's connections end too
				_, err := backend.SQL(t).Exec(`UPDATE change SET version = version + 1 WHERE topic = 'settings'`)
				return err
			})
		}
		bump := func() {
			require.NoError(t, other.Update(t.Context(), "", func(ctx context.Context, t *db.Tx) error { return other.BumpTopic(ctx, t, db.TopicSettings) }))
		}
		bump()
		require.Equal(t, db.TopicSettings, <-noticed)
		testkit.Eventually(t, true, idle.Idle)

		bump()
		require.Equal(t, db.TopicSettings, <-noticed, "by its notification")
		testkit.Eventually(t, true, idle.Idle)

		for range 10 {
			bumpSilently()
			require.Empty(t, noticed, "nobody asked")
			idle.CountRequest(t.Context())
			require.Len(t, noticed, 1, "before the request")
			<-noticed
			testkit.Eventually(t, true, idle.Idle)
		}

		dbtest.AllowConnections(t, backend.DatabaseName(t), "FALSE")
		dbtest.EndSessions(t, backend.DatabaseName(t))
		testkit.Eventually(t, false, idle.Idle)
		dbtest.AllowConnections(t, backend.DatabaseName(t), "TRUE")
		bumpSilently()
		require.Equal(t, db.TopicSettings, <-noticed, "by polling")
		testkit.Eventually(t, true, idle.Idle)
		bump()
		require.Equal(t, db.TopicSettings, <-noticed, "by the notification, on another connection")
	})
}

// TestServerWithoutNotificationsPolls: where notifications do not arrive, a server without requests polls
// as often as any other.
func TestServerWithoutNotificationsPolls(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		noticed := make(chan db.Topic, 100)
		follow(t, backend, noticed, func(d *db.DB) { d.Deafen(); d.SetIdle(0, time.Hour) })
		other := follow(t, backend, nil, nil)
		for range 3 {
			require.NoError(t, other.Update(t.Context(), "", func(ctx context.Context, t *db.Tx) error { return other.BumpTopic(ctx, t, db.TopicSettings) }))
			require.Equal(t, db.TopicSettings, <-noticed)
		}
	})
}

// TestSlowNotifications: the time that a notification takes to arrive begins when it was sent. A distant server, where
// connecting takes longer than that, does not think that notifications are lost.
func TestSlowNotifications(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		backend.PostgresOnly(t)
		var log testkit.LogBuffer
		const echo = 100 * time.Millisecond
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Readers: 2, Log: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() })
		var first sync.Once
		released := make(chan struct{})
		d.EchoWithin(echo, func() {
			first.Do(func() {
				release, err := d.HoldReaders(t.Context())
				assert.NoError(t, err)
				time.AfterFunc(3*echo, func() { release(); close(released) })
			})
		})
		require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
		<-released
		testkit.Eventually(t, true, d.Listening)
		require.NotContains(t, log.String(), "notifications do not arrive")
	})
}

// follow opens a database and sends the topics that change to noticed.
func follow(t *testing.T, backend dbtest.Backend, noticed chan db.Topic, prepare func(*db.DB)) *db.DB {
	t.Helper()
	d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Synchronous: "OFF"})
	require.NoError(t, err)
	if prepare != nil {
		prepare(d)
	}
	var hooks db.Hooks
	if noticed != nil {
		hooks.Changed = func(name db.Topic) { noticed <- name }
	}
	require.NoError(t, d.Follow(t.Context(), hooks))
	for len(noticed) > 0 { // what the first poll found
		<-noticed
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}
