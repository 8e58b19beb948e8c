package app

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/cli"
	"portico/store/shop"
)

// databaseCommands are the commands that open a database: what they make of one without a shop, and of an older
// schema. DB is its URL, DIR a folder for what they write.
var databaseCommands = map[string]struct {
	args            string
	creates, writes bool // creates implies writes
	anyVersion      bool // neither reads nor changes the schema
	plans           bool // works without a shop, and creates none
}{
	"serve":             {"serve --addr 127.0.0.1:0 --database-url DB", true, true, false, false},
	"import":            {"import --generate 1 --database-url DB", true, true, false, false},
	"import --dry-run":  {"import --dry-run internal/demo/shop.ndjson --database-url DB", false, false, false, true},
	"export":            {"export DIR/out.ndjson --database-url DB", false, false, false, false},
	"publish":           {"publish --database-url DB", false, true, false, false},
	"publish --dry-run": {"publish --dry-run --database-url DB", false, false, false, false},
	"doctor":            {"doctor --database-url DB", false, false, false, false},
	"audit":             {"audit --database-url DB", false, false, false, false},
	"release list":      {"release list --database-url DB", false, false, false, false},
	"release show":      {"release show 1 --database-url DB", false, false, false, false},
	"release diff":      {"release diff 1 2 --database-url DB", false, false, false, false},
	"release serve":     {"release serve 1 --database-url DB", false, true, false, false},
	"release rollback":  {"release rollback c --database-url DB", false, true, false, false},
	"release hold":      {"release hold 1 --database-url DB", false, true, false, false},
	"release unhold":    {"release unhold 1 --database-url DB", false, true, false, false},
	"release label":     {"release label 1 --label x --database-url DB", false, true, false, false},
	"codes generate":    {"codes generate --promotion p --count 1 --database-url DB", false, true, false, false},
	"codes export":      {"codes export --promotion p DIR/codes.csv --database-url DB", false, false, false, false},
	"client create":     {"client create --name x --all-scopes --database-url DB", false, true, false, false},
	"client list":       {"client list --database-url DB", false, false, false, false},
	"client rotate":     {"client rotate x --database-url DB", false, true, false, false},
	"client revoke":     {"client revoke x --database-url DB", false, true, false, false},
	"keys list":         {"keys list --database-url DB", false, false, false, false},
	"keys rotate":       {"keys rotate --database-url DB", false, true, false, false},
	"rekey":             {"rekey --database-url DB", false, true, false, false},
	"backup":            {"backup DIR/backup.db --database-url DB", false, false, true, false},
	"restore":           {"restore DB_FILE --database-url file:DIR/restored.db", false, true, false, false},
	"copy":              {"copy --database-url DB --to file:DIR/copy.db", false, false, false, false},
	"copy --to":         {"copy --database-url file:OWN --to DB", true, true, false, false},
	"migrate":           {"migrate --database-url DB", true, true, false, false},
}

// otherCommands open no database.
var otherCommands = []string{"config", "schema", "health", "help", "man", "completion", "version"}

// folderContents returns the files of a folder.
func folderContents(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, contents := must(t)(os.ReadDir(folder)), map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file.Name()))
		require.NoError(t, err)
		contents[file.Name()] = string(text)
	}
	return contents
}

func must(t *testing.T) func([]os.DirEntry, error) []os.DirEntry {
	return func(list []os.DirEntry, err error) []os.DirEntry { require.NoError(t, err); return list }
}

// TestCommandsSpareOtherDatabases runs each command on the file of another application, on an empty file, on none, and on an
// older schema. What a command may not change stays as it was, to the byte, and there is no file beside it.
func TestCommandsSpareOtherDatabases(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	own := filepath.Join(folder, "own.db")
	s, err := shop.Open(t.Context(), shop.Config{URL: "file:" + own, Synchronous: "OFF"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	sqlFile := func(from, script string) string {
		path := filepath.Join(t.TempDir(), "x.db")
		if from != "" {
			text, err := os.ReadFile(from)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, text, 0o600))
		}
		d, err := sql.Open("sqlite", "file:"+path)
		require.NoError(t, err)
		_, err = d.Exec(script)
		require.NoError(t, err)
		require.NoError(t, d.Close())
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	foreign := sqlFile("", `CREATE TABLE invoice (id INTEGER PRIMARY KEY)`)
	older := sqlFile(own, `DELETE FROM goose_db_version WHERE version_id = (SELECT MAX(version_id) FROM goose_db_version)`)
	eachCommandNames(t)
	for name, command := range databaseCommands {
		for _, test := range []struct {
			name, content string
			missing       bool
			refused       bool
			says          string
		}{
			{"foreign", foreign, false, true, "has tables that Portico did not create, such as invoice. Nothing was changed"},
			{"empty", "", false, !command.creates && !command.plans, "is empty: there is no shop in it"},
			{"missing", "", true, !command.creates && !command.plans, "does not exist"},
			{"older", older, false, !command.writes && !command.anyVersion, "Run portico migrate"},
		} {
			if !test.refused {
				continue // the other tests run what a command does
			}
			t.Run(name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				at, out := t.TempDir(), t.TempDir()
				path := filepath.Join(at, "shop.db")
				if !test.missing {
					require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
				}
				before := folderContents(t, at)
				var stderr bytes.Buffer
				args := strings.NewReplacer("DB_FILE", path, "DB", "file:"+path, "DIR", out, "OWN", own).Replace(command.args)
				require.Equal(t, cli.ExitFailure, runProgram(t.Context(), strings.Fields(args), cli.Streams{Out: io.Discard, Err: &stderr}), "%s", &stderr)
				require.Contains(t, stderr.String(), test.says)
				require.Equal(t, before, folderContents(t, at))
				require.Empty(t, folderContents(t, out))
			})
		}
	}
}

// TestImportPlansWithoutShop compares a file with the shop that an import would create.
func TestImportPlansWithoutShop(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]*string{"missing": nil, "empty": new("")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := t.TempDir()
			path := filepath.Join(at, "shop.db")
			if content != nil {
				require.NoError(t, os.WriteFile(path, []byte(*content), 0o600))
			}
			before := folderContents(t, at)
			var stdout, stderr bytes.Buffer
			require.Zero(t, runProgram(t.Context(), []string{"import", "--dry-run", "internal/demo/shop.ndjson", "--database-url", "file:" + path}, cli.Streams{Out: &stdout, Err: &stderr}), "%s", &stderr)
			require.Contains(t, stderr.String(), "there is no shop in "+path+" yet: an import would create it\n")
			require.Regexp(t, `25 product\b`, stdout.String())
			require.Equal(t, before, folderContents(t, at))
		})
	}
}

// eachCommandNames requires that each command is in one of the lists above.
func eachCommandNames(t *testing.T) {
	t.Helper()
	parser, err := cli.Parser(&Commands{}, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	for _, command := range parser.Model.Leaves(false) {
		_, opens := databaseCommands[command.Path()]
		require.True(t, opens || slices.Contains(otherCommands, command.Path()), "%s is not in databaseCommands, of %v", command.Path(), slices.Sorted(maps.Keys(databaseCommands)))
	}
}

// TestSuggestions are command lines with the name of a flag of another program, or a typo.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	for args, says := range map[string]string{
		"serve -demo":                                    `unknown flag -demo, did you mean "--demo"?`,
		"serve -addr :1":                                 `unknown flag -addr, did you mean "--addr HOST:PORT"?`,
		"serve --port 8080":                              `unknown flag --port, did you mean "--addr HOST:PORT"?`,
		"serve --port=8080":                              `unknown flag --port, did you mean "--addr HOST:PORT"?`,
		"serve --host 0.0.0.0":                           `unknown flag --host, did you mean "--addr HOST:PORT"?`,
		"serve --db shop.db":                             `unknown flag --db, did you mean "--database-url URL"?`,
		"export --db shop.db -":                          `unknown flag --db, did you mean "--database-url URL"?`,
		"serve --adr :1":                                 `unknown flag --adr, did you mean "--addr"?`,
		"serve --frobnicate":                             `unknown flag --frobnicate` + "\n",
		"serve --addr 9181":                              "--addr must be HOST:PORT, got 9181, did you mean 127.0.0.1:9181, or :9181 for all interfaces?",
		"serve --admin-addr 9181":                        "--admin-addr must be HOST:PORT, got 9181, did you mean 127.0.0.1:9181",
		"serve --access-log error":                       `did you mean "errors"?`,
		"client create --name x --scope catalog:raed":    `but got "catalog:raed", did you mean "catalog:read"?`,
		"client create --name x --scope stock:everybody": `but got "stock:everybody"` + "\n",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			fields := strings.Fields(args)
			if fields[0] == "serve" && !strings.Contains(args, "addr") {
				fields = append(fields, "--addr", "127.0.0.1:0")
			}
			require.Equal(t, cli.ExitUsage, runProgram(t.Context(), fields, cli.Streams{Out: io.Discard, Err: &stderr}), "%s", &stderr)
			require.Contains(t, stderr.String(), says)
		})
	}
}

// fullOutput is a standard output on a full disk.
type fullOutput struct{}

func (fullOutput) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left on device") }

// TestLostOutputIsAFailure runs commands whose standard output cannot be written.
func TestLostOutputIsAFailure(t *testing.T) {
	t.Parallel()
	url := "file:" + filepath.Join(t.TempDir(), "shop.db")
	lost := func(args ...string) string {
		var stderr bytes.Buffer
		require.NotZero(t, runProgram(t.Context(), args, cli.Streams{Out: fullOutput{}, Err: &stderr}), "%s", args)
		return stderr.String()
	}
	for _, args := range []string{"version", "--help", "schema", "man", "completion bash", "import --database-url URL internal/demo/shop.ndjson", "publish --database-url URL",
		"publish --dry-run --database-url URL", "import --dry-run --database-url URL internal/demo/shop.ndjson", "doctor --database-url URL", "client list --database-url URL",
		"release list --json --database-url URL", "export --database-url URL -", "migrate --database-url URL", "config"} {
		require.Contains(t, lost(strings.Fields(strings.ReplaceAll(args, "URL", url))...), "no space left on device", args)
	}
	says := lost("client", "create", "--name", "lost", "--all-scopes", "--database-url", url)
	require.Regexp(t, `the secret of client (\S+) is lost, .*: no space left on device\. Get another one with portico client rotate`, says)
	id := strings.Fields(says[strings.Index(says, "the secret of client "):])[4]
	require.Contains(t, printedBy(t, "client", "rotate", id, "--database-url", url), id)
}
