package storetest

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

// value is the one value of a query, as text.
func QueryText(t *testing.T, db *sql.DB, query string) (text string) {
	t.Helper()
	require.NoError(t, db.QueryRow(query).Scan(&text))
	return text
}
