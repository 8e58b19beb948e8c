package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOutputPath: a file that a command writes is no database, none of its companions and no key, however it is named.
func TestOutputPath(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	key := strings.Repeat("A", 43) + "=\n"
	for name, text := range map[string]string{
		"shop.db": "SQLite format 3\x00...", "shop.db-wal": "x", "shop.db-shm": "x", "shop.db.lock": "x", "shop.key": key, "rekey": key + key,
		"backup.db": "SQLite format 3\x00...", "text": "AAAA\n", "empty": "", "many-keys": strings.Repeat(key, 100),
	} {
		require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(at("folder"), 0o700))
	require.NoError(t, os.Symlink(folder, at("folder/link")))
	for link, to := range map[string]string{"link.db": "shop.db", "link-wal": "shop.db-wal", "link.key": "shop.key", "link": "new-file"} {
		require.NoError(t, os.Symlink(at(to), at(link)))
	}
	const database, belongs, isKey = " is a SQLite database", " belongs to the SQLite database ", " is a key file"
	for _, c := range []struct{ path, output, backup string }{
		{"shop.db", database, " is the database itself"}, {"link.db", database, " is the database itself"}, {"folder/link/shop.db", database, " is the database itself"},
		{"shop.db-wal", belongs, belongs}, {"shop.db-shm", belongs, belongs}, {"shop.db.lock", belongs, belongs}, {"link-wal", belongs, belongs},
		{"shop.db-journal", belongs, belongs}, {"folder/link/shop.db-wal", belongs, belongs}, {"folder/link/backup.db-wal", belongs, belongs},
		{"shop.key", isKey, isKey}, {"link.key", isKey, isKey}, {"rekey", isKey, isKey},
		{"backup.db", database, ""}, {"text", "", ""}, {"empty", "", ""}, {"many-keys", "", ""}, {"new", "", ""}, {"link", "", ""}, {"new-wal", "", ""},
		{"no-folder/new", "", ""}, {"folder", "", ""},
	} {
		for _, got := range []struct {
			want string
			err  error
		}{{c.output, outputPath(at(c.path)).check()}, {c.backup, outputPath(at(c.path)).checkBackup(at("shop.db"))}} {
			if got.want == "" {
				require.NoError(t, got.err, c.path)
			} else {
				require.ErrorContains(t, got.err, got.want, c.path)
			}
		}
	}
	require.ErrorContains(t, outputPath(at("shop.db")).checkBackup(at("other.db")), " is a database that a server may use, since ")
}

// TestFilesAreOpenedByOutputPath: no command opens a file to write by itself.
func TestFilesAreOpenedByOutputPath(t *testing.T) {
	writers := map[string][]string{
		"output_file.go": {"OpenFile"},
		"backup.go":      {"OpenFile"},   // restore: a new file, which becomes the database
		"input_sheet.go": {"CreateTemp"}, // its own
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	opened := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.SelectorExpr)
			if ok && slices.Contains([]string{"Create", "CreateTemp", "OpenFile", "WriteFile"}, call.Sel.Name) {
				if of, is := call.X.(*ast.Ident); is && of.Name == "os" {
					opened++
					require.Contains(t, writers[name], call.Sel.Name, "%s opens a file to write: use outputPath", name)
				}
			}
			return true
		})
	}
	require.NotZero(t, opened)
}
