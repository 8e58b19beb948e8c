package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Texts of one API alone, by the beginning of their file: files of imports and their schema, messages of the command line and
// of logs, how to mend what `portico check` finds, and restDetails, which are REST's.
var textsElsewhere = regexp.MustCompile(`^(\./exchange/(check/(decode|form|number)|merge_current|schema|sheet/)|\./db/|\./storetest/|\./.*/check\.go$|\./stock/cache|\./promotion/change|` +
	`\./release/node_list|\./sort\.go|\.\./graph/(playground|graphiql|graphtest)/)`)

// TestErrorTextsAreForBothAPIs: no text of an error names members in snake case, flags, commands or imports, which clients of
// GraphQL do not have. Paths name members, since each API spells them its own way.
func TestErrorTextsAreForBothAPIs(t *testing.T) {
	t.Parallel()
	foreign := regexp.MustCompile(`portico [a-z]|(^|[ (])--[a-z]|page\[|\b[a-z]+_[a-z_]+\b|\bimport(s|ed)?\b|\blinks?\b`)
	sql := regexp.MustCompile(`\b(SELECT|INSERT|UPDATE|DELETE|FROM|WHERE|CREATE|ORDER BY|AND|ON|OR|CASE|CAST|COALESCE|SET|PRAGMA|JOIN)\b|[=<>]+ *(\?|\$|'|$)|^[\w.]+, ?([\w.]+,\s*)*([\w.]+)?,? ?$`)
	texts := 0
	for _, folder := range []string{".", "../graph"} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "generated") {
				return filepath.SkipDir
			}
			from := filepath.ToSlash(path)
			if folder == "." {
				from = "./" + from
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || textsElsewhere.MatchString(from) {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.Field:
					n.Tag = nil
				case *ast.BasicLit:
					if n.Kind == token.STRING && strings.Contains(n.Value, " ") && !sql.MatchString(strings.Trim(n.Value, "\"`")) {
						texts++
						text := strings.ReplaceAll(n.Value, "connection_init", "") // of the protocol of WebSockets
						require.NotRegexp(t, foreign, text, "%s", files.Position(n.Pos()))
					}
				}
				return true
			})
			return nil
		}))
	}
	require.Greater(t, texts, 500, "the texts that there are")
}
