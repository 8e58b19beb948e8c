package schema_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db/schema"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
)

var schemaModes = map[string]schema.Mode{"create": schema.CreateMode, "migrate": schema.MigrateMode, "keep": schema.KeepMode}

// foreignDatabases are databases of other applications.
var foreignDatabases = []struct {
	name, script string
	table        string // that the error names
	on           string // the only backend; empty for both
}{
	{"a table", `CREATE TABLE invoice (id BIGINT PRIMARY KEY); INSERT INTO invoice VALUES (1)`, "invoice", ""},
	{"a table of the name of one of ours", `CREATE TABLE product (sku TEXT)`, "product", ""},
	{"a view", `CREATE VIEW totals AS SELECT 1 AS n`, "totals", ""},
	{"a sequence", `CREATE SEQUENCE numbers`, "numbers", "postgres"},
	{"store_meta with other columns", `CREATE TABLE store_meta (k TEXT, v TEXT)`, "store_meta", ""},
	{"store_meta without the mark", `CREATE TABLE store_meta (name TEXT, value TEXT); INSERT INTO store_meta VALUES ('a', 'b')`, "store_meta", ""},
	{"store_meta with the mark, and no migrator", `CREATE TABLE store_meta (name TEXT, value TEXT); INSERT INTO store_meta VALUES ('min_binary', '1')`, "store_meta", ""},
	{"the same migrator, which ran", `CREATE TABLE goose_db_version (id INT, version_id BIGINT, is_applied BOOLEAN); INSERT INTO goose_db_version VALUES (1, 7, TRUE)`, "goose_db_version", ""},
	{"another table of the name of the migrator's", `CREATE TABLE goose_db_version (bird TEXT)`, "goose_db_version", ""},
	{"the mark of another application, and no table", `PRAGMA application_id = 252006674; CREATE TABLE x (y); DROP TABLE x`, "those of application_id 252006674", "sqlite"},
	{"a log", `PRAGMA journal_mode = WAL; CREATE TABLE invoice (id BIGINT PRIMARY KEY)`, "invoice", "sqlite"},
}

// TestForeignDatabase opens databases of other applications in each way: all are refused with the name of the database and of
// a table, and are the same afterwards, to the byte on SQLite.
func TestForeignDatabase(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for _, test := range foreignDatabases {
			if test.on != "" && test.on != backend.Name {
				continue
			}
			t.Run(test.name, func(t *testing.T) {
				url := backend.BlankURL(t)
				before := fillForeign(t, backend, url, test.script)
				for name, mode := range schemaModes {
					_, err := shop.Open(t.Context(), shop.Config{URL: url, Schema: mode})
					requireExplained(t, err, "has tables that Portico did not create, such as "+test.table+". Nothing was changed")
					require.Equal(t, before, contentsOf(t, url), name)
				}
				if backend.Name == "sqlite" {
					_, err := shop.HasSecrets(t.Context(), url)
					requireExplained(t, err, "such as "+test.table)
					requireExplained(t, shop.Backup(t.Context(), url, filepath.Join(t.TempDir(), "backup")), "such as "+test.table)
					require.Equal(t, before, contentsOf(t, url))
				}
			})
		}
	})
}

// TestForeignLog opens a file of another application whose log was not copied, as after a crash.
func TestForeignLog(t *testing.T) {
	t.Parallel()
	running, crashed := filepath.Join(t.TempDir(), "app.db"), filepath.Join(t.TempDir(), "app.db")
	app, err := sql.Open("sqlite", "file:"+running)
	require.NoError(t, err)
	defer app.Close()
	_, err = app.Exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE invoice (id BIGINT PRIMARY KEY)`)
	require.NoError(t, err)
	before := map[string]string{}
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(running + suffix)
		require.NoError(t, err)
		require.NotEmpty(t, text)
		require.NoError(t, os.WriteFile(crashed+suffix, text, 0o600))
		before[filepath.Base(crashed+suffix)] = string(text)
	}
	_, err = shop.Open(t.Context(), shop.Config{URL: "file:" + crashed})
	requireExplained(t, err, "such as invoice. Nothing was changed")
	after := contentsOf(t, "file:"+crashed)
	delete(after, "app.db-shm") // the index of the log, which each reader needs
	require.Equal(t, before, after)
}

// TestSchemaModes opens databases without a schema, and with an older one.
func TestSchemaModes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		open := func(url string, mode schema.Mode) error {
			s, err := shop.Open(t.Context(), shop.Config{URL: url, Schema: mode, Synchronous: "OFF"})
			if err == nil {
				require.NoError(t, s.Close())
			}
			return err
		}
		blank := backend.BlankURL(t)
		if path, isFile := shop.SQLiteFile(blank); isFile {
			for _, mode := range []schema.Mode{schema.MigrateMode, schema.KeepMode} {
				require.NoError(t, os.RemoveAll(path))
				requireExplained(t, open(blank, mode), "the database file "+path+" does not exist. Correct --database-url, or create the database with portico migrate")
				require.NoFileExists(t, path)
			}
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		}
		before := contentsOf(t, blank)
		for _, mode := range []schema.Mode{schema.MigrateMode, schema.KeepMode} {
			requireExplained(t, open(blank, mode), "is empty: there is no shop in it. Name the database of a shop, or create one with portico migrate")
			require.Equal(t, before, contentsOf(t, blank))
		}
		require.NoError(t, open(blank, schema.CreateMode))
		require.NoError(t, open(blank, schema.KeepMode))
		require.NoError(t, open(blank, schema.MigrateMode))

		d := backend.SQLAt(t, blank)
		_, err := d.Exec(`DELETE FROM goose_db_version WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)`)
		require.NoError(t, err)
		require.NoError(t, d.Close())
		before = contentsOf(t, blank)
		requireExplained(t, open(blank, schema.KeepMode), "is older than this version of portico needs. Run portico migrate")
		require.Equal(t, before, contentsOf(t, blank))
		if backend.Name == "sqlite" {
			require.NoError(t, shop.Backup(t.Context(), blank, filepath.Join(t.TempDir(), "backup.db")), "before an upgrade")
			require.Equal(t, before, contentsOf(t, blank))
		}
		require.ErrorContains(t, open(blank, schema.MigrateMode), "migrate the database", "it runs the last migration again")
	})
}

// TestFileHasMark reads what SQLite's tools show of a file, also of a copy.
func TestFileHasMark(t *testing.T) {
	t.Parallel()
	url := "file:" + filepath.Join(t.TempDir(), "shop.db")
	s, err := shop.Open(t.Context(), shop.Config{URL: url, Synchronous: "OFF"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	files, err := schema.Migrations()
	require.NoError(t, err)
	backup := filepath.Join(t.TempDir(), "backup.db")
	require.NoError(t, shop.Backup(t.Context(), url, backup))
	for _, url := range []string{url, "file:" + backup} {
		d, err := sql.Open("sqlite", url)
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(0x5074636f), storetest.QueryText(t, d, `PRAGMA application_id`))
		require.Equal(t, strconv.Itoa(len(files)), storetest.QueryText(t, d, `PRAGMA user_version`))
		require.NoError(t, d.Close())
	}
}

// fillForeign runs a script in a database, and returns its contents.
func fillForeign(t *testing.T, backend storetest.Backend, url, script string) map[string]string {
	t.Helper()
	if path, isFile := shop.SQLiteFile(url); isFile {
		require.NoError(t, os.RemoveAll(path))
	}
	d := backend.SQLAt(t, url)
	for _, statement := range strings.Split(script, "; ") {
		_, err := d.Exec(statement)
		require.NoError(t, err, statement)
	}
	require.NoError(t, d.Close())
	return contentsOf(t, url)
}

// contentsOf returns the files of a folder with a SQLite database, or the relations of a PostgreSQL database with their
// columns and numbers of rows.
func contentsOf(t *testing.T, url string) map[string]string {
	t.Helper()
	contents := map[string]string{}
	if path, isFile := shop.SQLiteFile(url); isFile {
		files, err := os.ReadDir(filepath.Dir(path))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(path), file.Name()))
			require.NoError(t, err)
			contents[file.Name()] = string(text)
		}
		return contents
	}
	d, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer d.Close()
	for _, name := range dbtest.Texts(t, d, `SELECT relname || ' ' || relkind::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace ORDER BY 1`) {
		contents[name] = ""
		if table, kind, _ := strings.Cut(name, " "); kind == "r" {
			contents[name] = fmt.Sprint(dbtest.Texts(t, d, `SELECT t::text FROM `+table+` t ORDER BY 1`))
		}
	}
	return contents
}

// requireExplained requires an error that the command line explains with a sentence.
func requireExplained(t *testing.T, err error, sentence string) {
	t.Helper()
	require.Error(t, err)
	explained, ok := shop.Explain(err)
	require.True(t, ok, "%v", err)
	require.Contains(t, explained, sentence)
	require.NotContains(t, explained, "\n")
}
