package storetest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATestThatAsksInALoopKeepsOneConnectionPool(t *testing.T) {
	EachBackend(t, func(t *testing.T, e Backend) {
		db := e.SQL(t)
		require.Same(t, db, e.SQL(t))
		require.NotSame(t, db, e.SQLAt(t, e.OtherURL(t)))
		t.Run("a test within", func(t *testing.T) { require.NotSame(t, db, e.SQL(t)) })
		require.NoError(t, db.Ping(), "the one without is open still")
	})
}
