package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// readmeBlock is a fenced block of the README: commands, and the answer of
// the last one where it is shown right below.
type readmeBlock struct{ commands, answer string }

var fences = regexp.MustCompile("(?s)```sh\n(.*?)```(?:\\s*```json\n(.*?)```)?")

func readmeBlocks(t *testing.T) (blocks []readmeBlock) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, match := range fences.FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, readmeBlock{match[1], match[2]})
	}
	return blocks
}

// Every command of the README runs, and answers what it shows. The two
// commands at its top are this test, which serves the demo, and the run it is
// part of.
func TestReadme(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			storetest.SkipMissing(t, tool, "the README's commands need it")
		}
	}
	folder := t.TempDir()
	require.NoError(t, os.Symlink(program, filepath.Join(folder, "portico")))
	root, err := os.Getwd()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(filepath.Join(root, "internal"), filepath.Join(folder, "internal"))) // whose files the README names
	server := serving(t, "--demo")

	blocks := readmeBlocks(t)
	require.GreaterOrEqual(t, len(blocks), 3)
	before := "" // what earlier blocks set, the token for one
	for _, block := range blocks {
		commands := strings.NewReplacer(
			"go run .", "./portico",
			"http://127.0.0.1:8080", server.url,
			"go run . serve", "./portico serve --addr 127.0.0.1:0",
		).Replace(block.commands)
		answer := runReadme(t, folder, before, commands)
		if block.answer != "" {
			require.JSONEq(t, block.answer, answer, "the README shows another answer to\n%s\nit is\n%s", block.commands, answer)
		}
		if first, _, ok := strings.Cut(commands, "\n"); ok && strings.HasPrefix(first, "TOKEN=") {
			before = first + "\n"
		}
	}
}

// runReadme runs commands and returns what they print. A server among them is
// the last, and is ended once it is ready.
func runReadme(t *testing.T, folder, before, commands string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if at := strings.Index(commands, "./portico serve"); at >= 0 {
		// The server ends with the shell; "ready" in its log lets the shell go on.
		// The log of the server before it is emptied first: the shell may look
		// into the file before the one it starts has opened it.
		commands = commands[:at] + `: > ready.log
			./portico serve --addr 127.0.0.1:0 ` + strings.TrimSpace(strings.TrimPrefix(commands[at:], "./portico serve")) +
			` 2> ready.log & server=$!
			until grep -q '"msg":"ready"' ready.log; do kill -0 $server; done
			kill $server; wait $server`
	}
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", before+commands)
	command.Env = environment()
	command.Dir = folder
	var failed strings.Builder
	command.Stderr = &failed
	out, err := command.Output()
	require.NoError(t, err, "%s\n%s%s", commands, out, failed.String())
	return string(out)
}
