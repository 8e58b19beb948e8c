package db

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// TestErrorLogger: the first error of each kind is logged at once, later ones are counted.
func TestErrorLogger(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	told := errorLogger{log: slog.New(slog.NewTextHandler(&log, nil)), byKind: map[error]*errorCount{}}
	lines := func() []string {
		defer log.Reset()
		return strings.Split(strings.TrimSpace(log.String()), "\n")
	}
	told.record(store.ErrUnavailable, errors.New("first"))
	told.record(store.ErrTimeout, errors.New("of another kind"))
	for range 6 {
		told.record(store.ErrUnavailable, errors.New("one more"))
	}
	told.record(store.ErrUnavailable, errors.New("last"))
	told.flush()
	first := lines()
	require.Len(t, first, 2, "the others are counted")
	require.Contains(t, first[0], `msg="the database is not responding" times=1 error=first`)
	require.Contains(t, first[1], `times=1 error="of another kind"`)

	told.byKind[store.ErrUnavailable].loggedAt = time.Now().Add(-errorLogEvery) // the interval has passed
	told.flush()
	told.flush()
	rest := lines()
	require.Len(t, rest, 1)
	require.Contains(t, rest[0], `times=7 error=last`)
}
