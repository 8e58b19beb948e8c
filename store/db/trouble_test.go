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

// Of a trouble that many meet the log has the first cause at once, and then, now
// and again, how many there were and the last; each kind for itself.
func TestTroublesAreToldOnceAndCounted(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	told := troubles{log: slog.New(slog.NewTextHandler(&log, nil)), seen: map[error]*trouble{}}
	lines := func() []string {
		defer log.Reset()
		return strings.Split(strings.TrimSpace(log.String()), "\n")
	}
	told.note(store.ErrAway, errors.New("first"))
	told.note(store.ErrSlow, errors.New("of another kind"))
	for range 6 {
		told.note(store.ErrAway, errors.New("one more"))
	}
	told.note(store.ErrAway, errors.New("last"))
	told.tellRest()
	first := lines()
	require.Len(t, first, 2, "the others are counted")
	require.Contains(t, first[0], `msg="the database is away" times=1 error=first`)
	require.Contains(t, first[1], `times=1 error="of another kind"`)

	told.seen[store.ErrAway].told = time.Now().Add(-troubleEvery) // it is time
	told.tellRest()
	told.tellRest()
	rest := lines()
	require.Len(t, rest, 1)
	require.Contains(t, rest[0], `times=7 error=last`)
}
