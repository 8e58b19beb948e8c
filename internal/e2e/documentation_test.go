package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

var updateAnswers = flag.Bool("update", false, "rewrite the answers in README.md and docs with what the server answers")

// documentBlock is a fenced block of a page, with the answer block if one follows directly.
type documentBlock struct {
	language, text         string
	answerLanguage, answer string
	answerStart, answerEnd int // offsets of answer in the page
	hasAnswer              bool
}

var documentFence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```\n(?:\n```(json|text)\n(.*?)^```\n)?")

// documentBlocks returns the blocks that the tests run: sh, graphql and ndjson (import files).
func documentBlocks(page string) (blocks []documentBlock) {
	for _, at := range documentFence.FindAllStringSubmatchIndex(page, -1) {
		b := documentBlock{language: page[at[2]:at[3]], text: page[at[4]:at[5]]}
		if at[6] >= 0 {
			b.hasAnswer, b.answerLanguage, b.answer = true, page[at[6]:at[7]], page[at[8]:at[9]]
			b.answerStart, b.answerEnd = at[8], at[9]
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// documentPages returns README.md and docs, except pages with a test of their own.
func documentPages(t *testing.T) (pages []string) {
	t.Helper()
	found, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range append(found, "README.md", "CONTRIBUTING.md", "packaging/README.md") {
		if page != postgresPage && page != runbookPage {
			pages = append(pages, page)
		}
	}
	return pages
}

// quickPages are the pages whose commands the quick tests run.
var quickPages = map[string]bool{"README.md": true, "docs/getting-started.md": true}

// TestDocumentation runs the commands and queries of README.md and docs in order, with a demo
// server for each page, and compares the answers. "…" in an answer matches any value.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			testkit.SkipMissing(t, tool, "the commands of the documentation need it")
		}
	}
	postgres, err := os.ReadFile(postgresPage)
	require.NoError(t, err)
	for _, file := range documentPages(t) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if !*updateAnswers && !quickPages[file] {
				testkit.FullTestsOnly(t, "the quick tests run the pages that newcomers read first")
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			page, run, offset := string(text), &documentRun{}, 0
			for _, block := range documentBlocks(string(text)) {
				var answer string
				switch {
				case strings.Contains(block.text, "db.example"):
					require.Contains(t, string(postgres), block.text, "a command on PostgreSQL stands in %s too, whose test runs it", postgresPage)
					continue
				case block.language == "sh":
					answer = run.shell(t, block.text)
				case block.language == "graphql":
					answer = run.graphql(t, block.text)
				case block.language == "ndjson":
					run.importLines(t, block.text)
				}
				if !block.hasAnswer {
					continue
				}
				if *updateAnswers {
					answer = updatedAnswer(t, block, answer)
					page = page[:block.answerStart+offset] + answer + page[block.answerEnd+offset:]
					offset += len(answer) - len(block.answer)
					continue
				}
				requireAnswer(t, block, answer)
			}
			if *updateAnswers && page != string(text) {
				require.NoError(t, os.WriteFile(file, []byte(page), 0o644))
			}
		})
	}
}

// requireAnswer compares an answer with the block that shows it.
func requireAnswer(t *testing.T, block documentBlock, answer string) {
	t.Helper()
	if block.answerLanguage == "text" {
		require.Regexp(t, answerPattern(block.answer), strings.TrimSpace(answer), block.text)
		return
	}
	var want, got any
	require.NoError(t, json.Unmarshal([]byte(block.answer), &want), block.answer)
	require.NoError(t, json.Unmarshal([]byte(answer), &got), "%s\n%s", block.text, answer)
	require.Equal(t, want, withPlaceholders(got, want), "the page shows another answer to\n%s\nit is\n%s", block.text, answer)
}

// answerPattern returns a pattern for a text in which "…" matches anything.
func answerPattern(shown string) *regexp.Regexp {
	return regexp.MustCompile("(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(shown)), "…", ".*") + "$")
}

// withPlaceholders returns got with "…" wherever want has it.
func withPlaceholders(got, want any) any {
	switch want := want.(type) {
	case string:
		if text, is := got.(string); want == "…" || is && strings.Contains(want, "…") && answerPattern(want).MatchString(text) {
			return want
		}
	case map[string]any:
		members, ok := got.(map[string]any)
		for name := range want {
			if value, has := members[name]; ok && has {
				members[name] = withPlaceholders(value, want[name])
			}
		}
	case []any:
		items, ok := got.([]any)
		for i := range want {
			if ok && i < len(items) {
				items[i] = withPlaceholders(items[i], want[i])
			}
		}
	}
	return got
}

// updatedAnswer returns the new text of an answer block, with its old placeholders.
func updatedAnswer(t *testing.T, block documentBlock, answer string) string {
	t.Helper()
	if block.answerLanguage == "text" {
		if answerPattern(block.answer).MatchString(strings.TrimSpace(answer)) {
			return block.answer
		}
		return strings.TrimSpace(answer) + "\n"
	}
	got, err := parseOrdered([]byte(answer))
	require.NoError(t, err, "%s\n%s", block.text, answer)
	if before, err := parseOrdered([]byte(block.answer)); err == nil {
		got = got.withPlaceholders(before)
	}
	return got.format(0, 0) + "\n"
}

// orderedJSON is a JSON value that keeps the order of members.
type orderedJSON struct {
	names []string // member names of an object
	items []orderedJSON
	open  byte   // { or [, 0 for a scalar
	text  string // scalar
}

func parseOrdered(text []byte) (orderedJSON, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return readOrdered(decoder)
}

func readOrdered(d *json.Decoder) (v orderedJSON, err error) {
	token, err := d.Token()
	if err != nil {
		return v, err
	}
	if open, ok := token.(json.Delim); ok {
		v.open = byte(open)
		for d.More() {
			if open == '{' {
				name, err := d.Token()
				if err != nil {
					return v, err
				}
				v.names = append(v.names, name.(string))
			}
			item, err := readOrdered(d)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
		_, err = d.Token()
		return v, err
	}
	v.text = encodeJSON(token)
	return v, nil
}

func encodeJSON(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // a JSON token always encodes
	return strings.TrimSpace(text.String())
}

func (v orderedJSON) withPlaceholders(before orderedJSON) orderedJSON {
	if before.text == `"…"` {
		return before
	}
	for i := range v.items {
		switch {
		case v.open == '[' && before.open == '[' && i < len(before.items):
			v.items[i] = v.items[i].withPlaceholders(before.items[i])
		case v.open == '{' && before.open == '{':
			for j, name := range before.names {
				if name == v.names[i] {
					v.items[i] = v.items[i].withPlaceholders(before.items[j])
				}
			}
		}
	}
	return v
}

// format writes a value on one line if it fits, else several members per line. lead is the width of
// the text before it on the line.
func (v orderedJSON) format(indent, lead int) string {
	const width = 110
	key := func(i int) string {
		if v.open == '{' {
			return encodeJSON(v.names[i]) + ": "
		}
		return ""
	}
	ends := map[byte]string{'{': "}", '[': "]"}[v.open]
	line := make([]string, len(v.items))
	for i, item := range v.items {
		line[i] = key(i) + item.format(-1<<20, 0)
	}
	if v.open == 0 {
		return v.text
	}
	one := string(v.open) + strings.Join(line, ", ") + ends
	if len(v.items) == 0 || indent+lead+utf8.RuneCountInString(one) <= width {
		return one
	}
	if len(v.items) == 1 {
		return string(v.open) + key(0) + v.items[0].format(indent, lead+len(key(0))+1) + ends
	}
	var lines []string
	current := ""
	for i, item := range v.items {
		text := key(i) + item.format(indent+2, len(key(i)))
		switch {
		case current != "" && v.open == '{' && !strings.Contains(text, "\n") && !strings.Contains(current, "\n") &&
			indent+2+utf8.RuneCountInString(current+text)+3 <= width:
			current += ", " + text
		case current != "":
			lines, current = append(lines, current), text
		default:
			current = text
		}
	}
	pad := "\n" + strings.Repeat(" ", indent)
	return string(v.open) + pad + "  " + strings.Join(append(lines, current), ","+pad+"  ") + pad + ends
}

// documentRun runs the blocks of one page.
type documentRun struct {
	folder string
	server *serverProcess
	token  string            // with all scopes, printed by the demo
	set    string            // commands that set variables for later blocks
	urls   map[string]string // URLs of servers that the page starts, by its addresses
}

// demo starts the demo server that stands for 127.0.0.1:8080 until the page starts its own.
func (r *documentRun) demo(t *testing.T) {
	t.Helper()
	if r.folder != "" {
		return
	}
	r.folder = t.TempDir()
	root, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, filepath.Join(r.folder, "portico")))
	for _, name := range []string{"internal", "graph", "rest", "schema.graphqls"} { // pages refer to their files
		require.NoError(t, os.Symlink(filepath.Join(root, name), filepath.Join(r.folder, name)))
	}
	r.server = startServer(t, "--demo", "--admin-addr", "127.0.0.1:0")
	r.token = demoToken(t, r.server)
	r.urls = map[string]string{"http://127.0.0.1:8080": r.server.url, "http://127.0.0.1:9090": r.server.admin}
}

// local replaces the addresses of a page by those of the test's servers.
func (r *documentRun) local(text string) string {
	for shown, url := range r.urls {
		text = strings.ReplaceAll(text, shown, url)
	}
	return strings.ReplaceAll(text, "go run . ", "portico ")
}

func (r *documentRun) environment() []string {
	return append(environment(), "PATH="+r.folder+":"+os.Getenv("PATH"), "TOKEN="+r.token)
}

var (
	addressFlag   = regexp.MustCompile(` --addr (\S+)`)
	setsVariables = regexp.MustCompile(`(?m)^[A-Z_]+=.*$`)
)

// shell runs a block of commands and returns their output. If the last one is a server, it serves
// the following blocks.
func (r *documentRun) shell(t *testing.T, text string) string {
	t.Helper()
	r.demo(t)
	commands, server, serves := strings.Cut(r.local(text), "portico serve")
	out := runCommands(t, r.folder, r.environment(), r.set+commands)
	r.set += strings.Join(setsVariables.FindAllString(commands, -1), "\n") + "\n"
	if serves && !strings.Contains(server, "--demo") {
		shown := "http://127.0.0.1:8080"
		if match := addressFlag.FindStringSubmatch(server); match != nil {
			shown = "http://" + match[1]
		}
		server, _, _ = strings.Cut(addressFlag.ReplaceAllString(server, ""), "#")
		process := exec.Command("bash", "-c", r.set+"exec portico serve --addr 127.0.0.1:0 --linger 0s "+strings.TrimSpace(server))
		process.Dir, process.Env = r.folder, r.environment()
		dbtest.EndWithTests(process)
		r.urls[shown] = startProcess(t, process).url
	}
	return out
}

// graphql sends a query with the variables and headers in its comments.
func (r *documentRun) graphql(t *testing.T, text string) string {
	t.Helper()
	r.demo(t)
	body := map[string]any{"query": text}
	headers := []string{"Content-Type", "application/json", "Authorization", "Bearer " + r.token}
	for line := range strings.Lines(text) {
		if variables, ok := strings.CutPrefix(line, "# variables: "); ok {
			body["variables"] = json.RawMessage(variables)
		}
		if header, ok := strings.CutPrefix(line, "# header: "); ok {
			name, value, _ := strings.Cut(strings.TrimSpace(header), ": ")
			headers = append(headers, name, value)
		}
	}
	encoded, err := json.Marshal(body)
	require.NoError(t, err, text)
	response, answer := r.server.send(t, "POST", "/graphql", string(encoded), headers...)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s\n%s", text, answer)
	return answer
}

// importLines imports a block of an import page into a new shop, after the demo shop if the lines
// refer to it.
func (r *documentRun) importLines(t *testing.T, text string) {
	t.Helper()
	r.demo(t)
	file := filepath.Join(t.TempDir(), "lines.ndjson")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	flags, _ := database(t)
	mustRun(t, append([]string{"import", file, demoShop}, flags...)...)
}

// runServing runs commands. If the last one is a server, it stops the server once it is ready.
func runServing(t *testing.T, folder, commands string) {
	t.Helper()
	if before, server, serves := strings.Cut(commands, "./portico serve"); serves {
		// The server ends with the shell. Truncate the log first: the shell may read it before the new
		// server opens it.
		commands = before + `: > ready.log
			./portico serve --addr 127.0.0.1:0 ` + strings.TrimSpace(addressFlag.ReplaceAllString(server, "")) + ` 2> ready.log & server=$!
			until grep -q '"msg":"ready"' ready.log; do kill -0 $server; done
			kill $server; wait $server`
	}
	runCommands(t, folder, environment(), commands)
}

// runCommands runs commands in bash and returns their output.
func runCommands(t *testing.T, folder string, environment []string, commands string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	command.Env, command.Dir = environment, folder
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, "%s\n%s%s", commands, out, stderr.String())
	return string(out)
}
