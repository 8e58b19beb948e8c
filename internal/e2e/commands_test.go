package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/access"
	"portico/store/shop"
)

const demoShop = "internal/demo/shop.ndjson"

func TestExitCodes(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	missing := filepath.Join(filepath.Dir(path), "missing")
	for _, test := range []struct {
		line   string
		code   int
		stderr string // part of standard error
	}{
		{"version", 0, ""},
		{"schema", 0, ""},
		{"--help", 0, ""},
		{"import --help", 0, ""},
		{"", 0, ""},
		{"help serve", 0, ""},
		{"help fly", 2, "unexpected argument fly"},
		{"fly", 2, "unexpected argument fly"},
		{"version --loud", 2, "unknown flag --loud"},
		{"import", 2, "name a file to import"},
		{"import - -", 2, "- can be used once only"},
		{"import x --generate 5", 2, "--generate and files exclude each other"},
		{"import x --from https://shop.example", 2, "--from excludes files and --generate"},
		{"import --from shop.example", 2, "--from must be a URL without user, query and fragment, such as https://shop.example"},
		{"import --from https://shop.example", 2, "--from needs --from-client-id"},
		{"import --from https://shop.example --from-client-id x --rate 0", 2, "--rate must be more than 0"},
		{"import --from https://shop.example --from-client-id x --from-language 1", 2, "--from-language must be a BCP 47 tag"},
		{"import --from-channel web shop.ndjson", 2, "--from-language, --from-channel, --from-tag and --from-folder need --from"},
		{"import --from https://shop.example --from-client-id x --from-tag " + strings.Repeat("x", 256), 2, "--from-channel and --from-tag must be at most 255 bytes"},
		{"import --from https://shop.example --from-client-id x --from-client-secret-file missing", 1, "missing does not exist. Correct the path"},
		{"import --dry-run --database-url file:/ --from https://shop.example --from-client-id x", 1, "/ is a folder. Name a file in it"},
		{"import x --from-folder y", 2, "--from-language, --from-channel, --from-tag and --from-folder need --from"},
		{"import --generate -1", 2, "--generate"},
		{"import x --database-url portico.db", 2, "--database-url must start with file: or postgres://"},
		{"import x --synchronous sometimes", 2, "--synchronous must be one of"},
		{"import x --log-level loud", 2, "--log-level must be one of"},
		{"export", 2, "<file>"},
		{"client", 2, "expected"},
		{"client create", 2, "--scope or --all-scopes is required"},
		{"client create --all-scopes", 2, "--name"},
		{"client create --name x --scope everything", 2, "--scope must be one of"},
		{"client create --name x", 2, "--scope or --all-scopes is required. --scope is one or more of catalog:read, catalog:write, "},
		{"client create --name x --scope catalog:read --all-scopes", 2, "--scope and --all-scopes exclude each other"},
		{"client rotate", 2, "<id>"},
		{"client revoke", 2, "<id>"},
		{"client rotate x --grace=-1s", 2, "--grace must be between 0s and 720h0m0s, got -1s"},
		{"client rotate x --grace 721h", 2, "--grace must be between"},
		{"client rotate x --grace soon", 2, "--grace"},
		{"client list --database-url file:" + missing, 1, "does not exist"},
		{"client create --name x --all-scopes --database-url file:" + missing, 1, "does not exist"},
		{"client rotate x --database-url file:" + missing, 1, "does not exist"},
		{"client revoke x --database-url file:" + missing, 1, "does not exist"},
		{"keys rotate --delay 25h", 2, "--delay must be between 0s and 24h0m0s, got 25h0m0s"},
		{"keys rotate --database-url file:" + missing, 1, "does not exist"},
		{"keys list --database-url file:" + missing, 1, "does not exist"},
		{"doctor --database-url file:" + missing, 1, "does not exist"},
		{"release list --database-url file:" + missing, 1, "does not exist"},
		{"doctor --database-url postgres://portico:p@2024/x@host/db", 1, "the database URL cannot be parsed: percent-encode its user and password, with %40 for @ and %2F for /"},
		{"import --from https://portico:2024/x@shop.example", 2, `--from must be a URL without user, query and fragment, such as https://shop.example, got "https://***"`},
		{"config --purge-url https://portico:2024/x@purge.example", 2, `--purge-url must be a URL without user and fragment, such as https://purge.example/portico, got "https://***"`},
		{"config --oidc-issuer https://portico:2024/x@id.example --oidc-audience shop", 2, `--oidc-issuer "https://***"`},
		{"backup " + missing + " --database-url file:/", 1, "/ is a folder. Name a file in it"},
		{"serve --addr 127.0.0.1:0 --database-url file:/", 1, "/ is a folder. Name a file in it"},
		{"serve --trusted-proxy proxy.example", 2, "--trusted-proxy must be a network such as 10.0.0.0/8"},
		{"serve --code-rate-client -1", 2, "--code-rate-client"},
		{"serve --jobs-client=-1", 2, "--jobs-client, --codes-client and --codes-waiting must be 1 or more, or 0 for the default"},
		{"codes generate --promotion p --count 1 --codes-client=-1", 2, "--codes-client"},
		{"serve --keys-client-bytes=-1", 2, "--keys-client and --keys-client-bytes must be 1 or more"},
		{"serve --streams-connection=-1", 2, "--streams-connection must be 1 or more, or 0 for the default"},
		{"import x --replace stock", 2, "--replace must be one of file, attribute, product, hierarchy"},
		{"import x --skip shoes", 2, "--skip must be one of settings, file, attribute, product"},
		{"import x --replace file --skip file", 2, "--replace file and --skip file exclude each other"},
		{"import x --line-bytes=-1", 2, "--line-bytes must be 1 or more, or 0 for the default"},
		{"serve --read-database-url postgres://db2/shop", 2, "--read-database-url needs PostgreSQL"},
		{"serve --oidc-audience shop", 2, "--oidc-audience needs --oidc-issuer"},
		{"serve --oidc-issuer https://id.example", 2, "the audience of its tokens must be set"},
		{"serve --oidc-issuer http://id.example --oidc-audience shop", 2, "must use https"},
		{"serve --oidc-issuer https://u:hunter2@id.example --oidc-audience shop", 2, "https://u:***@id.example"},
		{"serve --oidc-issuer https://id.example --oidc-audience shop --token-issuer https://id.example", 2, "must differ from --token-issuer"},
		{"serve --addr nowhere", 2, "--addr must be HOST:PORT"},
		{"serve --cors-origin shop.example", 2, "an origin must be like https://shop.example"},
		{"serve --demo --addr 0.0.0.0:0", 2, "the demo listens on this machine only"},
		{"serve --demo --addr :0", 2, "the demo listens on this machine only"},
		{"serve --addr 127.0.0.1:0 --database-url postgres://localhost:1/x", 2, "openssl rand -base64 32"},
		{"serve --addr 127.0.0.1:0 --seal-key dG9vIHNob3J0", 2, "--seal-key must be 32 bytes in base64"},
		{"import " + missing, 1, "does not exist. Correct the path"},
		{"import .", 1, "the folder . has no file *.ndjson, *.csv, *.ndjson.gz or *.csv.gz"},
		{"export - --database-url file:" + missing, 1, "does not exist"},
		{"publish --database-url file:" + missing, 1, "does not exist"},
		{"migrate --database-url postgres://localhost:1/x", 1, "localhost"},
	} {
		t.Run(test.line, func(t *testing.T) {
			args := strings.Fields(test.line)
			if len(args) > 0 && args[0] != "version" && args[0] != "schema" && !strings.Contains(test.line, "--database-url") && test.code == 1 {
				args = append(args, flags...)
			}
			code, stdout, stderr := portico(t, args...)
			require.Equal(t, test.code, code, stderr)
			require.Contains(t, stderr, test.stderr)
			if code == 0 {
				require.NotEmpty(t, stdout)
				require.Empty(t, stderr)
				return
			}
			require.Empty(t, stdout)
			require.Contains(t, stderr, "portico: ")
			require.Equal(t, code == 2, strings.Contains(stderr, "See: portico"), "hint at --help for usage errors only")
			require.NotContains(t, stderr, "dG9vIHNob3J0", "errors contain no key")
			require.NotContains(t, stderr, "2024", "errors contain no part of a password")
		})
	}
	require.NoFileExists(t, missing)
}

func TestSchemaAndVersion(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("schema.graphqls")
	require.NoError(t, err)
	require.Equal(t, string(schema), mustRun(t, "schema"))
	require.Regexp(t, `^portico \S.* go1\.\S+ \S+/\S+\n$`, mustRun(t, "version"))
}

func TestImportPublishesAndExports(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	with := func(args ...string) []string { return append(args, flags...) }

	shop, err := os.ReadFile(demoShop)
	require.NoError(t, err)
	resources := count(string(shop))

	answer := mustRun(t, with("import", demoShop)...)
	require.Contains(t, answer, "imported "+resources+" resources, ")
	require.Contains(t, answer, "1 catalog, 1 catalog_rule, 17 file, 1 hierarchy, 6 node, 1 pricebook, 25 product, ")
	require.Contains(t, answer, "published catalog-coffee: release 1, 24 products\n")

	again := mustRun(t, with("import", "--no-publish", demoShop)...)
	require.Contains(t, again, "imported "+resources+" resources, 0 changes")
	require.NotContains(t, again, "published")

	require.Equal(t, "published catalog-coffee: release 1, 24 products\n", mustRun(t, with("publish")...))
	require.Equal(t, "published catalog-coffee: release 1, 24 products\n", mustRun(t, with("publish", "catalog-coffee")...))
	code, _, stderr := portico(t, with("publish", "catalog-coffee", "catalog-tea")...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, `catalog "catalog-tea" does not exist. Catalogs: catalog-coffee`)
	require.Equal(t, "published catalog-coffee: release 1, 24 products\n", mustRun(t, with("publish")...), "an unknown catalog publishes none")

	first := mustRun(t, with("export", "-")...)
	second, _ := database(t)
	file := filepath.Join(t.TempDir(), "shop.ndjson")
	require.NoError(t, os.WriteFile(file, []byte("what was there before"), 0o644))
	require.Equal(t, "exported "+count(first)+" resources to "+file+"\n", mustRun(t, with("export", file)...))
	mustRun(t, append([]string{"import", file}, second...)...)
	require.Equal(t, first, mustRun(t, append([]string{"export", "-"}, second...)...), "import of an export exports the same")
	entries, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
}

func count(lines string) string { return strconv.Itoa(strings.Count(lines, "\n")) }

func TestInvalidImportWritesNothing(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	mustRun(t, append([]string{"migrate"}, flags...)...)
	before := mustRun(t, append([]string{"export", "-"}, flags...)...)

	directory := t.TempDir()
	sound, faulty := filepath.Join(directory, "sound.ndjson"), filepath.Join(directory, "faulty.ndjson")
	require.NoError(t, os.WriteFile(sound, []byte(
		`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`+"\n\n"+
			`{"type":"pricebook","id":"p","attributes":{"name":"P"}}`), 0o644))
	require.NoError(t, os.WriteFile(faulty, []byte(
		`{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`+"\n"+
			`{"type":"pricebook","id":"q","attributes":{"name":""}}`+"\n"+
			`{"type":"catalog","id":"c","attributes":{"name":"C","hierarchies":["other"]}}`+"\n"+
			"nonsense\n"), 0o644))
	code, stdout, stderr := portico(t, append([]string{"import", sound, faulty}, flags...)...)
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	for _, line := range []string{
		faulty + ":2: pricebook: attributes.name is required",
		faulty + `:3: catalog: attributes.hierarchies.0 refers to the hierarchy "other"`,
		faulty + ":4: The line is not JSON",
		"portico: 3 errors. Nothing was imported",
	} {
		require.Contains(t, stderr, line)
	}
	require.NotContains(t, stderr, faulty+":1:")
	require.Equal(t, before, mustRun(t, append([]string{"export", "-"}, flags...)...))
}

// TestImportChangesAndDeletes merges, deletes, replaces and skips by the command.
func TestImportChangesAndDeletes(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	directory := t.TempDir()
	file := func(name string, lines ...string) string {
		path := filepath.Join(directory, name)
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644))
		return path
	}
	run := func(arguments ...string) []string { return append(append([]string{"import"}, arguments...), flags...) }
	hierarchy := func(id string) string {
		return fmt.Sprintf(`{"type":"hierarchy","id":%q,"attributes":{"name":"H","slug":"s"}}`, id)
	}
	mustRun(t, run(file("all.ndjson", hierarchy("a"), hierarchy("b"), hierarchy("c")))...)

	merged := file("merge.ndjson", `{"type":"hierarchy","id":"a","attributes":{"name":"A"}}`, `{"type":"hierarchy","id":"b","deleted":true}`, `{"type":"file","id":"f"}`)
	planned := mustRun(t, run("--merge", "--skip", "file", "--dry-run", merged)...)
	require.Contains(t, planned, merged+`:1: update hierarchy a: attributes.name "H" to "A", attributes.updated_at "`)
	for _, line := range []string{merged + ":2: delete hierarchy b",
		"would update: 1 hierarchy", "would delete: 1 hierarchy", "would skip: 1 file"} {
		require.Contains(t, planned, line+"\n")
	}
	report := filepath.Join(directory, "report.ndjson")
	require.Contains(t, mustRun(t, run("--merge", "--skip", "file", "--report", report, "--json", merged)...), `"deleted":{"hierarchy":1}`)
	exported := mustRun(t, append([]string{"export", "-"}, flags...)...)
	require.Contains(t, exported, `"attributes":{"name":"A","slug":"s","created_at":"`)
	require.NotContains(t, exported, `"id":"b"`)

	one := file("one.ndjson", hierarchy("a"))
	require.Contains(t, mustRun(t, run("--replace", "hierarchy", "--dry-run", one)...), "--replace: delete hierarchy c\n")
	code, _, stderr := portico(t, run("--replace", "hierarchy", one)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "--replace hierarchy deletes 1 of 2\n")
	require.Contains(t, stderr, "Add --yes to delete them")
	require.Equal(t, exported, mustRun(t, append([]string{"export", "-"}, flags...)...))
	require.Contains(t, mustRun(t, run("--replace", "hierarchy", "--yes", one)...), "deleted 1: 1 hierarchy\n")
}

func TestImportLenient(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	file := filepath.Join(t.TempDir(), "x.ndjson")
	require.NoError(t, os.WriteFile(file, []byte(`{"type":"hierarchy","id":"h","attributes":{"name":"H","color":"red"}}`+"\n"+`{"type":"comet"}`), 0o644))
	code, _, stderr := portico(t, append([]string{"import", file}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, file+":1: hierarchy: attributes.color ")
	code, out, stderr := portico(t, append([]string{"import", "--lenient", file}, flags...)...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, out, "imported 1 resource, 1 change: 1 hierarchy")
	require.Contains(t, stderr, file+":1: ignored: hierarchy: attributes.color is not a known member")
	require.Contains(t, stderr, file+":2: ignored: comet: type is unknown: \"comet\"")
	require.Contains(t, stderr, "ignored 2: 1 comet, 1 hierarchy attributes.color\n")
}

func TestImportStopsOnSignal(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	importing := command(append([]string{"import", "-"}, flags...)...)
	shop, err := importing.StdinPipe() // never closed
	require.NoError(t, err)
	defer shop.Close()
	var stderr bytes.Buffer
	importing.Stderr = &stderr
	require.NoError(t, importing.Start())
	_, err = io.WriteString(shop, strings.Repeat("\n", 1<<20)) // more than the pipe buffer: the command is reading
	require.NoError(t, err)
	require.NoError(t, importing.Process.Signal(os.Interrupt))
	_ = importing.Wait() // the exit code is checked below
	require.Equal(t, 1, importing.ProcessState.ExitCode())
	require.Contains(t, stderr.String(), "interrupted")
}

func TestImportFromStandardInput(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	shop, err := os.ReadFile(demoShop)
	require.NoError(t, err)
	code, out, stderr := porticoReading(t, bytes.NewReader(shop), append([]string{"import", "-"}, flags...)...)
	require.Zero(t, code, stderr)
	require.Contains(t, out, "imported "+count(string(shop))+" resources")

	code, _, stderr = porticoReading(t, strings.NewReader("\n{}"), append([]string{"import", "-"}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "-:2: type must be one of")
}

// TestImportOfNothingPublishesNothing imports a shop without publishing it, as an interrupted import leaves it, and then
// a file without a resource.
func TestImportOfNothingPublishesNothing(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	code, _, stderr := portico(t, append([]string{"import", "--no-publish", demoShop}, flags...)...)
	require.Zero(t, code, stderr)
	importNothing := func(more ...string) string {
		code, out, stderr := porticoReading(t, strings.NewReader("\n"), append(append([]string{"import", "-"}, more...), flags...)...)
		require.Zero(t, code, stderr)
		return out
	}
	require.Equal(t, "imported 0 resources, 0 changes\nnothing was published, since nothing was imported\n", importNothing())
	require.Contains(t, importNothing("--publish"), "release 1, 24 products")
}

func TestClientCreate(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	mustRun(t, append([]string{"migrate"}, flags...)...)
	var created struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	answer := mustRun(t, append([]string{"client", "create", "--json", "--name", "Front end", "--scope", "inventory:read", "--scope",
		"catalog:read"}, flags...)...)
	decoder := json.NewDecoder(strings.NewReader(answer))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&created))

	text := mustRun(t, append([]string{"client", "create", "--name", "All", "--all-scopes"}, flags...)...)
	require.Contains(t, text, strings.Join(access.Scopes(), " "))

	require.NotContains(t, mustRun(t, append([]string{"export", "-"}, flags...)...), "api_client")
	exported := mustRun(t, append([]string{"export", "-", "--clients"}, flags...)...)
	require.Contains(t, exported, created.ID)
	require.NotContains(t, exported, created.Secret)

	s, err := shop.Open(t.Context(), shop.Config{URL: "file:" + path})
	require.NoError(t, err)
	defer s.Close()
	client, err := s.Access.AuthenticateClient(t.Context(), created.ID, created.Secret)
	require.NoError(t, err)
	require.Equal(t, "Front end", client.Name)
	require.Equal(t, []string{"catalog:read", "inventory:read"}, client.Scopes)

	code, _, stderr := portico(t, append([]string{"client", "create", "--all-scopes", "--name", strings.Repeat("x", 256)}, flags...)...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--name must be between 1 and 255 bytes long")
}
