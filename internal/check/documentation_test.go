package check

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"portico/internal/app"
	"portico/internal/cli"
	"portico/internal/cli/help"
)

// documentation returns the pages of documentation by path.
func documentation(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	pages := map[string]string{}
	for _, file := range append(files, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "packaging/README.md", "examples/README.md", "graph/editor/README.md", "graph/graphiql/README.md") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pages[file] = string(text)
	}
	return pages
}

// serveFlags returns the defaults and the limits of serve's flags, and the names of all
// commands' flags.
func serveFlags(t *testing.T) (defaults map[string]string, limits, all []string) {
	t.Helper()
	parser, err := cli.Parser(&app.Commands{}, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	defaults = map[string]string{}
	for _, command := range parser.Model.Leaves(false) {
		for _, flags := range command.AllFlags(false) {
			for _, flag := range flags {
				all = append(all, flag.Name)
				if command.Name != "serve" {
					continue
				}
				defaults[flag.Name] = strings.TrimSuffix(flag.Default, "m0s")
				if flag.Group != nil && help.IsLimit(flag.Group.Key) {
					limits = append(limits, flag.Name)
				}
			}
		}
	}
	return defaults, limits, all
}

func TestReadmeIsShort(t *testing.T) {
	t.Parallel()
	require.Less(t, strings.Count(documentation(t)["README.md"], "\n"), 200)
}

// TestSecurityPageHasEveryLimit requires a table row with the default.
func TestSecurityPageHasEveryLimit(t *testing.T) {
	t.Parallel()
	shown := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| (\\S+) \\|").FindAllStringSubmatch(documentation(t)["docs/security.md"], -1) {
		shown[row[1]] = row[2]
	}
	defaults, limits, _ := serveFlags(t)
	for _, name := range limits {
		require.Contains(t, shown, name, "docs/security.md has no row for --%s", name)
	}
	for name, value := range shown {
		require.Equal(t, defaults[name], value, "--%s", name)
	}
}

var (
	codeFence  = regexp.MustCompile("(?ms)^```.*?^```")
	pageLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageTitle  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	inlineFlag = regexp.MustCompile("`--([a-z][a-z-]+)[^`]*`")
)

// TestDocumentationLinks requires that links to files and headings of the repository work.
func TestDocumentationLinks(t *testing.T) {
	t.Parallel()
	pages := documentation(t)
	for file, text := range pages {
		for _, match := range pageLink.FindAllStringSubmatch(codeFence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(match[1], "#")
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), path)
				_, err := os.Stat(target)
				require.NoError(t, err, "%s links to %s", file, match[1])
			}
			if anchor != "" {
				require.Contains(t, anchors(pages[target]), anchor, "%s links to %s", file, match[1])
			}
		}
	}
}

// anchors returns the headings of a page as GitHub links to them.
func anchors(page string) (names []string) {
	for _, title := range pageTitle.FindAllStringSubmatch(codeFence.ReplaceAllString(page, ""), -1) {
		names = append(names, strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case unicode.IsLetter(c) || unicode.IsDigit(c) || c == '-' || c == '_':
				return unicode.ToLower(c)
			}
			return -1
		}, title[1]))
	}
	return names
}

// TestDocumentationNamesFlags requires that the flags in the pages exist.
func TestDocumentationNamesFlags(t *testing.T) {
	t.Parallel()
	_, _, known := serveFlags(t)
	pages := documentation(t)
	delete(pages, "CHANGELOG.md") // it names old flags
	for file, text := range pages {
		for _, match := range inlineFlag.FindAllStringSubmatch(text, -1) {
			require.True(t, match[1] == "help" || match[1] == "help-all" || match[1] == "version" || slices.Contains(known, match[1]),
				"%s names --%s", file, match[1])
		}
	}
}

// TestDocumentationQuotesMessages requires that the program contains the log messages and
// errors that the pages for operators quote.
func TestDocumentationQuotesMessages(t *testing.T) {
	t.Parallel()
	var program strings.Builder
	eachGoFile(t, func(path, text string) {
		if !strings.HasSuffix(path, "_test.go") {
			program.WriteString(text)
		}
	})
	source, pages := program.String(), documentation(t)
	for _, file := range []string{"docs/runbook.md", "docs/postgresql.md", "docs/operations.md"} {
		for _, match := range quotedMessage.FindAllStringSubmatch(pages[file], -1) {
			if !toolCommand.MatchString(match[1]) {
				require.True(t, strings.Contains(source, match[1]), "%s quotes a message that the program does not have: %s", file, match[1])
			}
		}
	}
}

// eachGoFile calls see with each Go file of the repository.
func eachGoFile(t *testing.T, see func(path, text string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != ".") {
			return fs.SkipDir
		}
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		see(path, string(text))
		return err
	}))
}

func TestArchitecturePageHasEveryPackage(t *testing.T) {
	t.Parallel()
	page := documentation(t)["docs/architecture.md"]
	for name := range allowedImports() {
		if name != "portico" {
			require.Contains(t, page, "| `"+name+"` |", "the table of packages lacks one")
		}
	}
}

var (
	quotedMessage = regexp.MustCompile("`([a-z']+ [a-z' ]+ [a-z' ]+)`")
	toolCommand   = regexp.MustCompile("^(portico|docker|systemctl|go|npm|curl) ")

	testRun   = regexp.MustCompile(`go test .*?-run '?([^' ` + "`" + `]+)'?`)
	npmPrefix = regexp.MustCompile(`npm .*?--prefix ([a-z][\w/-]+)`)
	goRun     = regexp.MustCompile(`go run \./([\w/-]+)`)
	decision  = regexp.MustCompile(`docs/architecture\.md, decision (\d+)`)
	testName  = regexp.MustCompile(`\bTest[A-Z]\w+`)
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestDocumentationCommandsExist requires that the tests, folders and programs in commands
// exist, and that the architecture page has the decisions that comments cite. internal/e2e runs
// the commands in sh blocks.
func TestDocumentationCommandsExist(t *testing.T) {
	t.Parallel()
	var tests, cited []string
	eachGoFile(t, func(_, text string) {
		for _, match := range testFunc.FindAllStringSubmatch(text, -1) {
			tests = append(tests, match[1])
		}
		for _, match := range decision.FindAllStringSubmatch(text, -1) {
			cited = append(cited, match[1])
		}
	})
	pages := documentation(t)
	for _, number := range cited {
		require.Contains(t, pages["docs/architecture.md"], "\n### "+number+". ", "a comment cites decision %s", number)
	}
	for file, text := range pages {
		for _, name := range testName.FindAllString(text, -1) {
			require.True(t, slices.Contains(tests, name), "%s names %s", file, name)
		}
		for _, match := range testRun.FindAllStringSubmatch(text, -1) {
			for _, name := range strings.Split(strings.ReplaceAll(match[1], `\|`, "|"), "|") {
				name, _, _ = strings.Cut(strings.Trim(name, "^$"), "/")
				name = strings.Trim(name, "$")
				require.True(t, name == "-" || slices.ContainsFunc(tests, func(test string) bool { return strings.Contains(test, name) }),
					"%s runs the test %s", file, name)
			}
		}
		for _, paths := range [][][]string{npmPrefix.FindAllStringSubmatch(text, -1), goRun.FindAllStringSubmatch(text, -1)} {
			for _, match := range paths {
				require.DirExists(t, match[1], file)
			}
		}
	}
}

// The variables of the sample storefront do not begin as those of flags do: the server would stop at them if it had its environment.
func TestStorefrontHasNoVariablesOfFlags(t *testing.T) {
	t.Parallel()
	files := 0
	require.NoError(t, filepath.WalkDir("examples/storefront", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && slices.Contains([]string{"node_modules", "dist"}, entry.Name()) {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		require.NotContains(t, string(text), "PORTICO_", path)
		files++
		return err
	}))
	require.Greater(t, files, 20)
}

var serveCommand = regexp.MustCompile(`(?m)^ *(portico|go run \.) serve.*`)

// TestPagesStopTheDemo checks that a page which starts the demo and then a server on the same port says to stop the demo.
func TestPagesStopTheDemo(t *testing.T) {
	t.Parallel()
	for name, page := range documentation(t) {
		demo := -1
		for _, at := range serveCommand.FindAllStringIndex(page, -1) {
			switch command := page[at[0]:at[1]]; {
			case strings.Contains(command, "--demo"):
				demo = at[1]
			case demo >= 0 && !strings.Contains(command, "--addr"):
				require.Contains(t, page[demo:at[0]], "Stop the demo", "%s: %s", name, command)
			}
		}
	}
}
