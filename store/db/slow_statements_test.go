package db

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSlowStatements(t *testing.T) {
	t.Parallel()
	s := &DB{slow: newSlowStatements()}
	for query, name := range map[string]string{
		"SELECT id FROM product WHERE id IN ($1)":                                "SELECT product",
		"\n\t\tUPDATE code_usage SET released_at = $2\n\t\tWHERE reference = $1": "UPDATE code_usage",
		"INSERT INTO stock (id) SELECT id FROM product":                          "INSERT stock",
		"DELETE FROM job": "DELETE job",
		"SELECT id FROM (SELECT id FROM node UNION ALL SELECT id FROM hierarchy) AS t": "SELECT node",
		"SELECT 1": "SELECT",
	} {
		s.slow.record(query, time.Now())
		require.NotContains(t, s.SlowStatements(), name)
		s.slow.record(query, time.Now().Add(-slowStatement))
		require.Equal(t, int64(1), s.SlowStatements()[name], name)
	}
	(*slowStatements)(nil).record("SELECT 1", time.Time{})
}
