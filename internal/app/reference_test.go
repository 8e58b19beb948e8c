package app

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"portico/internal/cli"
)

// printedBy runs a command and returns its standard output.
func printedBy(t *testing.T, args ...string) string {
	t.Helper()
	var out, stderr bytes.Buffer
	require.Zero(t, runProgram(t.Context(), args, cli.Streams{Out: &out, Err: &stderr}), "%s", &stderr)
	return out.String()
}

// eachCommand calls do for each command, with its flags.
func eachCommand(t *testing.T, do func(command *kong.Node, flags []*kong.Flag)) {
	t.Helper()
	parser, err := cli.Parser(&Commands{}, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	for _, command := range parser.Model.Leaves(false) {
		do(command, command.Flags)
	}
}

func TestHelpHasEveryFlagAndDefault(t *testing.T) {
	t.Parallel()
	eachCommand(t, func(command *kong.Node, flags []*kong.Flag) {
		help := strings.Join(strings.Fields(printedBy(t, append(strings.Fields(command.Path()), "--help-all")...)), " ")
		for _, flag := range flags {
			require.Contains(t, help, "--"+flag.Name, command.Path())
			if flag.Name != "markdown" {
				require.Equal(t, []string{"PORTICO_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))}, flag.Envs, "%s --%s",
					command.Path(), flag.Name)
			}
			if flag.HasDefault && !flag.IsBool() {
				require.Contains(t, help, "Default: "+flag.Default, "%s --%s", command.Path(), flag.Name)
			}
		}
	})
}

func TestServeHelpShowsCommonFlags(t *testing.T) {
	t.Parallel()
	help := printedBy(t, "serve", "--help")
	shown := strings.Count(help, "\n  --") + strings.Count(help, "\n      --")
	require.InDelta(t, 20, shown, 3)
	require.Contains(t, help, "more flags: portico serve --help-all\n")
	require.NotContains(t, help, "--document-cost")
	for _, line := range strings.Split(help, "\n") {
		require.LessOrEqual(t, len(line), 80)
	}
}

func TestWaysToPrintHelp(t *testing.T) {
	t.Parallel()
	require.Contains(t, printedBy(t), "Usage: portico <command>")
	require.Equal(t, printedBy(t, "--help"), printedBy(t))
	require.Equal(t, printedBy(t, "--help"), printedBy(t, "help"))
	require.Equal(t, printedBy(t, "client", "create", "--help"), printedBy(t, "help", "client", "create"))
	require.Equal(t, printedBy(t, "version"), printedBy(t, "--version"))
}

func TestConfigurationPageIsCurrent(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/configuration.md")
	require.NoError(t, err)
	require.Equal(t, printedBy(t, "man", "--markdown"), string(page), "run: go run . man --markdown > docs/configuration.md")
	eachCommand(t, func(command *kong.Node, flags []*kong.Flag) {
		require.Contains(t, string(page), "\n## portico "+command.Path()+"\n")
		for _, flag := range flags {
			if flag.Name != "markdown" {
				require.Contains(t, string(page), "\n| `--"+flag.Name+"` | `"+flag.Envs[0]+"` | ", command.Path())
			}
		}
	})
}

func TestManPageHasEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	page := printedBy(t, "man")
	plain := strings.ReplaceAll(page, `\-`, "-")
	eachCommand(t, func(command *kong.Node, flags []*kong.Flag) {
		require.Contains(t, plain, "\n.SS portico "+command.Path())
		for _, flag := range flags {
			require.Contains(t, plain, "\n\\fB--"+flag.Name, command.Path())
		}
	})
	checkScript(t, page, "mandoc", "-Tlint", "-Werror")
}

func TestCompletionHasEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := printedBy(t, "completion", shell)
		eachCommand(t, func(command *kong.Node, flags []*kong.Flag) {
			require.Contains(t, script, command.Name, shell)
			for _, flag := range flags {
				name := "--" + flag.Name
				if shell == "fish" {
					name = " -l " + flag.Name + " "
				}
				require.Contains(t, script, name, "%s %s", shell, command.Path())
			}
		})
		checkScript(t, script, shell, "-n")
	}
}

// checkScript checks a file with a program, if it is installed.
func checkScript(t *testing.T, text, program string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Logf("%s is not installed", program)
		return
	}
	file := filepath.Join(t.TempDir(), "portico.1")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, err := exec.CommandContext(t.Context(), program, append(args, file)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// TestBashCompletion runs the completion function as bash does after Tab.
func TestBashCompletion(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	script := filepath.Join(t.TempDir(), "portico.bash")
	require.NoError(t, os.WriteFile(script, []byte(printedBy(t, "completion", "bash")), 0o600))
	for line, want := range map[string][]string{
		"portico cl":                         {"client"},
		"portico client r":                   {"rotate", "revoke"},
		"portico client list --js":           {"--json"},
		"portico serve --log-level d":        {"debug"},
		"portico serve --log-level = w":      {"warn"},
		"portico serve --addr ":              nil,
		"portico completion ":                {"bash", "zsh", "fish", "--help", "--help-all", "--version"},
		"portico backup --database-url x --": nil,
	} {
		words := strings.Split(line, " ")
		program := `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _portico; printf '%s\n' "${COMPREPLY[@]}"`
		out, err := exec.CommandContext(t.Context(), "bash", append([]string{"-c", program, script}, words...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		if strings.HasSuffix(line, " --") {
			require.Contains(t, string(out), "--synchronous\n")
			continue
		}
		require.ElementsMatch(t, want, strings.Fields(string(out)), line)
	}
}
