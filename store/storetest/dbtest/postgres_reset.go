package dbtest

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// templateContents is what a database with the schema and no rows of a test contains.
//
// Creating and dropping a PostgreSQL database takes 0.25 s of CPU, more than most tests.
// Emptying a used one takes a tenth of that.
type templateContents struct {
	schema string            // schemaFingerprint
	rows   map[string]string // by table, as a JSON array; "" for none
}

// recordTemplate reads the contents of the template.
func (p *postgres) recordTemplate() error {
	db, err := sql.Open("pgx", p.urlOf(p.template))
	if err != nil {
		return err
	}
	defer db.Close()
	if p.contents.schema, err = schemaFingerprint(db); err != nil {
		return err
	}
	tables, err := queryTexts(db, `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename`)
	if err != nil {
		return err
	}
	p.contents.rows = map[string]string{}
	for _, table := range tables {
		var rows sql.NullString
		if err := db.QueryRow(`SELECT json_agg(t)::text FROM ` + quoteTable(table) + ` t`).Scan(&rows); err != nil {
			return err
		}
		p.contents.rows[table] = rows.String
	}
	return nil
}

// errSchemaChanged means that a test has changed the schema, so that its database cannot be
// reused.
var errSchemaChanged = errors.New("the schema has changed")

// reset empties a database that a test has used, and ends the connections to it. After an error
// the database must not be reused.
func (p *postgres) reset(name string) error {
	if err := p.endConnections(name); err != nil {
		return err
	}
	db, err := sql.Open("pgx", p.urlOf(name))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	schema, err := schemaFingerprint(db)
	if err != nil {
		return err
	}
	if schema != p.contents.schema {
		return errSchemaChanged
	}
	written, err := queryTexts(db, tablesLargerThan, 0)
	if err != nil {
		return err
	}
	dirty, err := queryTexts(db, p.contents.differenceQuery(true))
	if err != nil {
		return err
	}
	for _, table := range written { // cheaper than checking for rows
		if p.contents.rows[table] == "" {
			dirty = append(dirty, table)
		}
	}
	statements := []string{"SET LOCAL session_replication_role = replica"} // disables foreign keys
	for _, table := range dirty {
		// TRUNCATE creates new files for the table and its indexes, which takes longer.
		statements = append(statements, `DELETE FROM `+quoteTable(table))
		if rows := p.contents.rows[table]; rows != "" {
			statements = append(statements, fmt.Sprintf(`INSERT INTO %[1]s SELECT * FROM json_populate_recordset(NULL::%[1]s, '%[2]s')`,
				quoteTable(table), strings.ReplaceAll(rows, "'", "''")))
		}
	}
	if _, err := db.Exec(strings.Join(statements, ";\n")); err != nil { // one transaction
		return err
	}
	known, err := queryTexts(db, fmt.Sprintf(`%s OR relkind = 'r' AND oid >= %d AND relpages > 0`, tablesLargerThan, firstUserOID), vacuumThreshold)
	if err != nil {
		return err
	}
	statements = nil
	for _, table := range known {
		statements = append(statements, `VACUUM (ANALYZE FALSE, INDEX_CLEANUP ON) `+quoteTable(table))
	}
	// By the statistics of the last test, or a relpages that it left, a plan for the next one reads all rows of each page.
	return execAll(db, append(statements, fmt.Sprintf(`DELETE FROM pg_statistic WHERE starelid >= %d`, firstUserOID)))
}

// endConnections ends all connections to a database and waits until they are gone. DROP
// DATABASE WITH (FORCE) polls for that only ten times a second.
func (p *postgres) endConnections(name string) error {
	for range 10_000 {
		ended, err := queryTexts(p.admin, `SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE datname = $1`, name)
		if err != nil || len(ended) == 0 {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("connections to " + name + " are still open")
}

// tablesLargerThan selects the tables whose rows, live and dead, take more than $1 bytes.
const tablesLargerThan = `
	SELECT relname FROM pg_class
	WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > $1`

// vacuumThreshold is the size in bytes from which reset vacuums an emptied table.
const vacuumThreshold = 256 << 10

func execAll(db *sql.DB, statements []string) error {
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// differenceQuery returns a query for the names of the tables that differ from the template.
// With filled it checks only tables that have rows in the template.
func (c templateContents) differenceQuery(filled bool) string {
	var parts []string
	for _, table := range slices.Sorted(maps.Keys(c.rows)) {
		name := "'" + strings.ReplaceAll(table, "'", "''") + "'"
		if rows := c.rows[table]; rows != "" {
			parts = append(parts, fmt.Sprintf(`SELECT %s WHERE (SELECT json_agg(t)::text FROM %s t) IS DISTINCT FROM '%s'`, name, quoteTable(table), strings.ReplaceAll(rows, "'", "''")))
		} else if !filled {
			parts = append(parts, fmt.Sprintf(`SELECT %s WHERE EXISTS (SELECT 1 FROM %s)`, name, quoteTable(table)))
		}
	}
	return strings.Join(parts, " UNION ALL ")
}

// firstUserOID is the lowest OID of what a user creates.
const firstUserOID = 16384

// schemaFingerprint returns a fingerprint of what DDL can change. A database copied by files
// has the template's catalog rows with the transaction IDs that wrote them, so anything
// created, altered or dropped since changes it.
func schemaFingerprint(db *sql.DB) (fingerprint string, err error) {
	written := `(SELECT concat(COUNT(*), '/', SUM(xmin::text::bigint)) FROM `
	return fingerprint, db.QueryRow(`SELECT concat_ws(' ', `+
		written+`pg_class WHERE oid >= $1), `+
		written+`pg_attribute WHERE attrelid >= $1), `+
		written+`pg_constraint WHERE oid >= $1), `+
		written+`pg_trigger WHERE oid >= $1), `+
		written+`pg_proc WHERE oid >= $1), `+
		written+`pg_namespace WHERE oid >= $1), `+
		`(SELECT COUNT(*) FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())))`, firstUserOID).Scan(&fingerprint)
}

// Texts returns the rows of a query with one column of text.
func Texts(t testing.TB, db *sql.DB, query string) []string {
	t.Helper()
	list, err := queryTexts(db, query)
	require.NoError(t, err)
	return list
}

func queryTexts(db *sql.DB, query string, arguments ...any) (list []string, err error) {
	rows, err := db.Query(query, arguments...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

func quoteTable(table string) string { return pgx.Identifier{table}.Sanitize() }

// databasePool holds databases that tests have finished with and reset has emptied.
type databasePool struct {
	mu   sync.Mutex
	list []string
}

func (d *databasePool) add(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, name)
}

func (d *databasePool) take() (name string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.list) == 0 {
		return "", false
	}
	name, d.list = d.list[len(d.list)-1], d.list[:len(d.list)-1]
	return name, true
}
