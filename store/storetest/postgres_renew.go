package storetest

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Making a PostgreSQL database for a test and dropping it costs a quarter of a
// second of processor time, more than most tests. Emptying one that a test has
// used costs a tenth of that.

// templateContents is what a database with the schema and no rows of a test's holds.
type templateContents struct {
	schema string            // schemaFingerprint
	rows   map[string]string // by table, what the migrations wrote, as a JSON array; "" for none
}

// recordTemplate reads the template.
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

// errSchemaChanged refuses a database whose schema a test has changed.
var errSchemaChanged = errors.New("the schema is another one")

// reset makes a database that a test has used as good as the template. Whoever
// is still connected is thrown out. An error leaves it unfit for use.
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
	for _, table := range written { // whether there are rows would be dearer to ask
		if p.contents.rows[table] == "" {
			dirty = append(dirty, table)
		}
	}
	orders := []string{"SET LOCAL session_replication_role = replica"} // no foreign keys meanwhile
	for _, table := range dirty {
		// TRUNCATE would give each table and index a new file, which takes longer.
		orders = append(orders, `DELETE FROM `+quoteTable(table))
		if rows := p.contents.rows[table]; rows != "" {
			orders = append(orders, fmt.Sprintf(`INSERT INTO %[1]s SELECT * FROM json_populate_recordset(NULL::%[1]s, '%[2]s')`,
				quoteTable(table), strings.ReplaceAll(rows, "'", "''")))
		}
	}
	if _, err := db.Exec(strings.Join(orders, ";\n")); err != nil { // which is one transaction
		return err
	}
	grown, err := queryTexts(db, tablesLargerThan, vacuumThreshold)
	if err != nil {
		return err
	}
	orders = nil
	for _, table := range grown {
		orders = append(orders, `VACUUM (ANALYZE FALSE, INDEX_CLEANUP ON) `+quoteTable(table))
	}
	return execAll(db, orders)
}

// endConnections ends all connections to a database, and returns when they are gone.
// The server's own way to wait for that looks ten times a second.
func (p *postgres) endConnections(name string) error {
	for range 10_000 {
		ended, err := queryTexts(p.admin, `SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE datname = $1`, name)
		if err != nil || len(ended) == 0 {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("connections to " + name + " do not end")
}

// tablesLargerThan asks for the tables whose rows, living and dead, take more than
// some bytes.
const tablesLargerThan = `
	SELECT relname FROM pg_class
	WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > $1`

// vacuumThreshold is the size in bytes from which on an emptied table is worth
// clearing of its dead rows.
const vacuumThreshold = 256 << 10

func execAll(db *sql.DB, orders []string) error {
	for _, order := range orders {
		if _, err := db.Exec(order); err != nil {
			return err
		}
	}
	return nil
}

// differenceQuery is a statement for the names of the tables that do not hold what the
// template's do; of those only in which that one has rows, where filled is set.
func (w templateContents) differenceQuery(filled bool) string {
	var parts []string
	for _, table := range slices.Sorted(maps.Keys(w.rows)) {
		name := "'" + strings.ReplaceAll(table, "'", "''") + "'"
		if rows := w.rows[table]; rows != "" {
			parts = append(parts, fmt.Sprintf(`SELECT %s WHERE (SELECT json_agg(t)::text FROM %s t) IS DISTINCT FROM '%s'`, name, quoteTable(table), strings.ReplaceAll(rows, "'", "''")))
		} else if !filled {
			parts = append(parts, fmt.Sprintf(`SELECT %s WHERE EXISTS (SELECT 1 FROM %s)`, name, quoteTable(table)))
		}
	}
	return strings.Join(parts, " UNION ALL ")
}

// schemaFingerprint is a fingerprint of what DDL can change. A database that was copied
// by its files has the rows of the template's catalog, with the transactions
// that wrote them: whatever was made, changed or dropped since has others.
func schemaFingerprint(db *sql.DB) (fingerprint string, err error) {
	const firstOwn = 16384 // ids below are PostgreSQL's own
	written := `(SELECT concat(COUNT(*), '/', SUM(xmin::text::bigint)) FROM `
	return fingerprint, db.QueryRow(`SELECT concat_ws(' ', `+
		written+`pg_class WHERE oid >= $1), `+
		written+`pg_attribute WHERE attrelid >= $1), `+
		written+`pg_constraint WHERE oid >= $1), `+
		written+`pg_trigger WHERE oid >= $1), `+
		written+`pg_proc WHERE oid >= $1), `+
		written+`pg_namespace WHERE oid >= $1), `+
		`(SELECT COUNT(*) FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())))`, firstOwn).Scan(&fingerprint)
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

// databasePool is a heap of databases that several tests put on and take from.
type databasePool struct {
	mu   sync.Mutex
	list []string
}

func (n *databasePool) add(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, name)
}

func (n *databasePool) take() (name string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) == 0 {
		return "", false
	}
	name, n.list = n.list[len(n.list)-1], n.list[:len(n.list)-1]
	return name, true
}
