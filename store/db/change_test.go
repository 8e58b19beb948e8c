package db_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
	"portico/store/storetest"
)

// Whose database goes back under it, as by a backup that is restored, says so
// once, and reads anew what it kept.
func TestADatabaseThatWentBackIsTold(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		var log storetest.Log
		d, err := db.Open(t.Context(), db.Config{URL: e.URL(t), Synchronous: "OFF", Log: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		noticed := make(chan db.Topic, 100)
		require.NoError(t, d.Follow(t.Context(), db.Hooks{Changed: func(name db.Topic) { noticed <- name }}))
		t.Cleanup(func() { _ = d.Close() })
		other := e.SQL(t)
		change := func() {
			t.Helper()
			require.NoError(t, d.Update(t.Context(), "", func(ctx context.Context, t *db.Tx) error { return d.Changed(ctx, t, db.TopicSettings) }))
			<-noticed // as written
			<-noticed // as found
		}
		change()
		change()
		require.Zero(t, strings.Count(log.String(), "went back"))
		for range 2 { // to and fro, which is told now and again
			_, err = other.Exec(`UPDATE change SET version = version - 1`)
			require.NoError(t, err)
			require.Equal(t, db.TopicSettings, <-noticed)
		}
		storetest.Soon(t, 1, func() int { return strings.Count(log.String(), "went back to an earlier state") })
	})
}
