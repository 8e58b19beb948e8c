package drivers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Explain says what is wrong with the database name, and how to fix it, by the error of a driver; empty for any
// other error.
func Explain(err error, name string) string {
	var embedded *sqlite.Error
	if errors.As(err, &embedded) {
		if sentence := explainSQLite(embedded.Code()&0xff, name); sentence != "" {
			return sentence
		}
	}
	var config *pgconn.ParseConfigError
	var failure *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &config):
		return "the database URL is not valid; its form is postgres://user@host:5432/database"
	case errors.As(err, &failure):
		return explainPostgres(failure, name)
	case errors.As(err, &connect):
		return explainConnection(connect, name)
	}
	return ""
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
