package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// OpenError says which database could not be opened.
type OpenError struct {
	Database string // without credentials
	Err      error
}

// newOpenError takes the text of dialect.describe.
func newOpenError(described string, err error) *OpenError {
	return &OpenError{strings.TrimPrefix(strings.TrimPrefix(described, "SQLite "), "PostgreSQL "), err}
}

func (e *OpenError) Error() string { return "open " + e.Database + ": " + e.Err.Error() }

func (e *OpenError) Unwrap() error { return e.Err }

// Explain returns a sentence for the operator that says what is wrong with the
// database and how to fix it; ok is false for any other error.
func Explain(err error) (sentence string, ok bool) {
	name := "the database"
	var opening *OpenError
	if errors.As(err, &opening) {
		name = opening.Database
	}
	var sqliteError *sqlite.Error
	if errors.As(err, &sqliteError) {
		sentence = explainSQLite(sqliteError.Code()&0xff, name)
	}
	var config *pgconn.ParseConfigError
	var failure *pgconn.PgError
	var connect *pgconn.ConnectError
	var foreign *foreignError
	switch {
	case sentence != "":
	case errors.As(err, &foreign):
		sentence = fmt.Sprintf("%s has tables that Portico did not create, such as %s. Nothing was changed. Name an empty database, or one of Portico. If it is a restored copy, its restore is not complete", name, foreign.table)
	case errors.Is(err, errNoFile):
		sentence = fmt.Sprintf("the database file %s does not exist. Correct --database-url, or create the database with portico migrate", name)
	case errors.Is(err, errNoSchema):
		sentence = fmt.Sprintf("%s is empty: there is no shop in it. Name the database of a shop, or create one with portico migrate", name)
	case errors.Is(err, errOlder):
		sentence = fmt.Sprintf("the schema of %s is older than this version of portico needs. Run portico migrate", name)
	case errors.As(err, &config):
		sentence = "the database URL is not valid; its form is postgres://user@host:5432/database"
	case errors.As(err, &failure):
		sentence = explainPostgres(failure, name)
	case errors.As(err, &connect):
		sentence = explainConnection(connect, name)
	}
	return sentence, sentence != ""
}

func explainSQLite(code int, name string) string {
	switch code {
	case sqlite3.SQLITE_NOTADB:
		return fmt.Sprintf("%s is not a SQLite database; name the file of a Portico database", name)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Sprintf("%s is damaged; restore a backup", name)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Sprintf("%s cannot be opened; check that it is a file, and that this user may write to it and to its folder", name)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return fmt.Sprintf("this user may not write to %s; give the user write access to the file and to its folder", name)
	case sqlite3.SQLITE_FULL:
		return fmt.Sprintf("the disk that holds %s is full; free space, then run the command again", name)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Sprintf("another process holds a lock on %s; stop it, or run the command again later", name)
	case sqlite3.SQLITE_IOERR:
		return fmt.Sprintf("%s cannot be read or written; check its disk, which may be full", name)
	}
	return ""
}

func explainPostgres(failure *pgconn.PgError, name string) string {
	switch failure.Code {
	case "28P01", "28000":
		return fmt.Sprintf("PostgreSQL refused the login to %s (%s); check user and password in the database URL, or PGPASSWORD", name, failure.Message)
	case "3D000":
		return fmt.Sprintf("PostgreSQL has no such database: %s; create it with createdb, or correct the database URL", name)
	case "42501":
		return fmt.Sprintf("the PostgreSQL user of %s lacks a right (%s); grant the right to the user", name, failure.Message)
	case "53300":
		return fmt.Sprintf("%s accepts no more connections; lower --readers, or raise max_connections of PostgreSQL", name)
	case "53100":
		return fmt.Sprintf("the disk that holds %s is full; free space, then run the command again", name)
	case "57P03":
		return fmt.Sprintf("%s is starting up or shutting down; run the command again later", name)
	}
	return ""
}

func explainConnection(connect *pgconn.ConnectError, name string) string {
	var unknown *net.DNSError
	switch {
	case errors.As(connect, &unknown):
		return fmt.Sprintf("the host of %s was not found; correct the host in the database URL", name)
	case errors.Is(connect, syscall.ECONNREFUSED), errors.Is(connect, syscall.ENOENT):
		return fmt.Sprintf("PostgreSQL does not accept connections for %s; start it, or correct host and port in the database URL", name)
	case errors.Is(connect, context.DeadlineExceeded), pgconn.Timeout(connect):
		return fmt.Sprintf("PostgreSQL did not respond in time for %s; check host, port and firewall, or raise --database-wait", name)
	}
	return fmt.Sprintf("PostgreSQL cannot be reached for %s: %v; check the database URL", name, errors.Unwrap(connect))
}
