package e2e

import (
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// topScreen runs top in a terminal of 100 columns and these rows. It returns what was written to the terminal, and its
// keyboard.
func topScreen(t *testing.T, s *serverProcess, rows string) (process *exec.Cmd, screen *storetest.LogBuffer, keys io.WriteCloser) {
	t.Helper()
	script, err := exec.LookPath("script")
	if err != nil {
		storetest.SkipMissing(t, "script", "it runs a program in a terminal, and is not installed")
	}
	top := command("top", "--interval", "100ms", "--admin", strings.TrimPrefix(s.admin, "http://"))
	process = exec.Command(script, "--quiet", "--return", "--flush", "--command",
		"stty rows "+rows+" columns 100; exec '"+strings.Join(top.Args, "' '")+"'", "/dev/null")
	process.Env = append(top.Env, "SHELL=/bin/sh", "TERM=xterm")
	storetest.EndWithTests(process)
	screen = &storetest.LogBuffer{}
	process.Stdout, process.Stderr = screen, screen
	keys, err = process.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	return process, screen, keys
}

// TestTopInATerminal requires that top draws each report in the place of the one before, within the terminal's size, and that Ctrl+C ends it.
func TestTopInATerminal(t *testing.T) {
	t.Parallel()
	const clear = "\x1b[H\x1b[2J"
	s := startServer(t, "--demo", "--admin-addr", "127.0.0.1:0")
	for _, rows := range []string{"60", "10"} {
		process, screen, keys := topScreen(t, s, rows)
		storetest.Eventually(t, true, func() bool { return strings.Count(screen.String(), clear) > 3 }, screen.String())
		_, err := keys.Write([]byte{3})
		require.NoError(t, err)
		require.NoError(t, process.Wait(), "Ctrl+C is how people end it: %s", screen)
		drawn := strings.Split(screen.String(), clear)
		for _, report := range drawn[1 : len(drawn)-1] {
			lines := strings.Split(strings.TrimSuffix(report, "\r\n"), "\r\n")
			require.Contains(t, lines[0], "database SQLite up")
			for _, line := range lines {
				require.LessOrEqual(t, len([]rune(line)), 100, line)
			}
			if rows == "60" {
				require.Contains(t, report, "catalog-coffee")
			} else {
				require.Less(t, len(lines), 10, "a line more would move the first out of sight")
				require.Contains(t, lines[len(lines)-1], "more lines")
			}
		}
	}
}
