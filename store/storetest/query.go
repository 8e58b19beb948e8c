package storetest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// Transact runs statements in one transaction.
func Transact(t require.TestingT, db *sql.DB, do func(run func(query string, args ...any))) {
	ctx := context.Background()
	transaction, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	defer func() { _ = transaction.Rollback() }()
	do(func(query string, args ...any) {
		_, err := transaction.ExecContext(ctx, query, args...)
		require.NoError(t, err, query)
	})
	require.NoError(t, transaction.Commit())
}

// QueryText returns the single value of a query as text.
func QueryText(t *testing.T, db *sql.DB, query string) (text string) {
	t.Helper()
	require.NoError(t, db.QueryRow(query).Scan(&text))
	return text
}

// CountRows counts the rows of a table. table may include a WHERE clause.
func CountRows(t require.TestingT, db *sql.DB, table string) (n int) {
	require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM `+table).Scan(&n))
	return n
}

// CountStatements returns the number of SQL statements that read runs.
func CountStatements(t *testing.T, read func(context.Context) error) int {
	t.Helper()
	ctx, counter := store.CountStatements(t.Context())
	require.NoError(t, read(ctx))
	return counter.Count()
}
