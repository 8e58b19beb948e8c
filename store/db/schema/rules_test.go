package schema_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db/schema"
)

// firstExpanding is the first migration that had to keep the previous version working.
const firstExpanding = 2

// TestMigrationsAreExpanding: the previous version keeps working with every migration. One
// that breaks it raises min_binary to its own number and says why.
func TestMigrationsAreExpanding(t *testing.T) {
	t.Parallel()
	files, err := schema.Migrations()
	require.NoError(t, err)
	least := 0
	for i, name := range files {
		require.Equal(t, i+1, number(t, name), "the file's number is its version")
		text := migration(t, name)
		if raised := minBinary.FindStringSubmatch(text); raised != nil {
			to, err := strconv.Atoi(raised[1])
			require.NoError(t, err)
			require.Equal(t, i+1, to, "%s: min_binary is the number of the migration that raises it", name)
			require.Greater(t, to, least, name)
			least = to
		}
		if i+1 < firstExpanding {
			continue
		}
		require.Empty(t, faults(text), name)
	}
}

// TestMigrationRules: each rule finds a migration that breaks it.
func TestMigrationRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"DROP TABLE stock;\n":                                                                              "takes away",
		"ALTER TABLE stock RENAME TO stocks;\n":                                                            "takes away",
		"ALTER TABLE stock DROP COLUMN revision;\n":                                                        "takes away",
		"ALTER TABLE stock ADD COLUMN a TEXT NOT NULL;":                                                    "DEFAULT",
		"ALTER TABLE stock ADD COLUMN a BIGINT NOT NULL DEFAULT 0;\nUPDATE stock SET a = 1;\n":             "in one transaction",
		"CREATE TABLE a (id TEXT COLLATE \"de-x-icu\" PRIMARY KEY);\n":                                     "collation",
		"CREATE TABLE a (id BIGSERIAL PRIMARY KEY);\n":                                                     "not every engine",
		"CREATE TRIGGER a AFTER INSERT ON stock EXECUTE FUNCTION b();\n":                                   "not every engine",
		"CREATE INDEX CONCURRENTLY a ON stock (a);\n":                                                      "not every engine",
		"UPDATE store_meta SET value = '99' WHERE name = 'min_binary';\n":                                  "An older binary",
		"-- An older binary would undo it.\nUPDATE store_meta SET value = '99' WHERE name = 'min_binary';": "",
		"CREATE TABLE a (id TEXT COLLATE \"C\" PRIMARY KEY);\nALTER TABLE stock ADD COLUMN a TEXT;\n":      "",
	} {
		if want == "" {
			require.Empty(t, faults(text), text)
		} else {
			require.Contains(t, strings.Join(faults(text), "; "), want, text)
		}
	}
}

var (
	minBinary  = regexp.MustCompile(`UPDATE store_meta SET value = '(\d+)' WHERE name = 'min_binary'`)
	contracts  = regexp.MustCompile(`(?i)\bDROP\s+(TABLE|COLUMN|INDEX)\b|\bRENAME\b|\bALTER\s+COLUMN\b`)
	addsColumn = regexp.MustCompile(`(?i)\bALTER TABLE (\w+) ADD COLUMN (\w+)([^;]*)`)
	collates   = regexp.MustCompile(`(?i)COLLATE\s+("[^"]*"|\w+)`)
	engines    = regexp.MustCompile(`(?i)\b(SMALLSERIAL|SERIAL|BIGSERIAL|TRIGGER|FUNCTION|PROCEDURE|CONCURRENTLY|TABLESPACE|INHERITS|EXCLUDE|pg_\w+|plpgsql|UNLOGGED|TEMPORARY|TEMP)\b`)
)

// faults returns the rules that a migration breaks.
func faults(text string) (found []string) {
	fault := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	raises := minBinary.MatchString(text)
	if raises && !strings.Contains(text, "-- An older binary ") {
		fault("raises min_binary without a comment that begins with An older binary, and says what it would do wrong")
	}
	if words := contracts.FindString(text); words != "" && !raises {
		fault("takes away (%s) what the version before works with: leave it to a migration of a later version, which raises min_binary", words)
	}
	for _, added := range addsColumn.FindAllStringSubmatch(text, -1) {
		if strings.Contains(added[3], "NOT NULL") && !strings.Contains(added[3], "DEFAULT") {
			fault("adds %s.%s without a DEFAULT, which the version before does not write", added[1], added[2])
		}
		if regexp.MustCompile(`(?i)\bUPDATE ` + added[1] + `\b`).MatchString(text) {
			fault("adds a column to %s and updates it in one transaction: make two migrations of it", added[1])
		}
	}
	for _, collation := range collates.FindAllStringSubmatch(text, -1) {
		if collation[1] != `"C"` {
			fault("has a collation that the dialects do not know: %s", collation[1])
		}
	}
	if word := engines.FindString(text); word != "" {
		fault("has what not every engine takes: %s", word)
	}
	return found
}

func number(t *testing.T, name string) int {
	digits, _, _ := strings.Cut(filepath.Base(name), "_")
	n, err := strconv.Atoi(digits)
	require.NoError(t, err)
	return n
}

func migration(t *testing.T, name string) string {
	text, err := schema.Files.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}

// TestSQLIsPortable: the store's SQL also works on CockroachDB and YugabyteDB. Only dialects
// use more.
func TestSQLIsPortable(t *testing.T) {
	t.Parallel()
	own := map[string]bool{"sqlite.go": true, "postgres.go": true, "postgres_listen.go": true}
	texts := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.Contains(path, "storetest") || own[entry.Name()] {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			literal, is := node.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING || !isSQL.MatchString(literal.Value) {
				return true
			}
			texts++
			require.Empty(t, foreign.FindString(literal.Value), "%s: %s", files.Position(literal.Pos()), literal.Value)
			return true
		})
		return nil
	}))
	require.Greater(t, texts, 100, "SQL was found")
	for _, text := range []string{"`SELECT * FROM stock`", "`SELECT id FROM stock WHERE id LIKE 'a%'`", "`SELECT pg_advisory_lock(1)`", "`DELETE FROM a USING b`", "`SELECT id FROM a FOR UPDATE`"} {
		require.True(t, isSQL.MatchString(text) && foreign.MatchString(text), text)
	}
}

var (
	isSQL   = regexp.MustCompile("^[`\"]\\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|ANALYZE|SET|CREATE|LISTEN|NOTIFY|LOCK|TRUNCATE)\\s")
	foreign = regexp.MustCompile(`(?i)SELECT \*|\bI?LIKE\b|\bpg_\w+|\bctid\b|\bxm(in|ax)\b|\b(LISTEN|NOTIFY|TRUNCATE)\b|\bLOCK TABLE\b|\bUSING\b|\bFOR UPDATE\b|\bSET LOCAL\b|\bCREATE TEMP|\bANALYZE\b|\bGLOB\b|\bPRAGMA\b|\bNOW\(\)|\bCURRENT_TIMESTAMP\b|\bINSERT OR\b`)
)
