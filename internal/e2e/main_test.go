// Package e2e tests the program as a process: its command line, HTTP, and pages in a browser.
// TestMain builds program, and startServer starts it. File paths start at the root of the
// repository.
package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/dbtest"
)

// program is the path of the binary that TestMain builds from sources.
var (
	program string
	sources []string
)

func TestMain(m *testing.M) {
	folder, err := build()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	defer os.RemoveAll(folder)
	dbtest.Main(m)
}

// build builds the program into a new folder, with the race detector if the tests have it.
func build() (folder string, err error) {
	if err := os.Chdir(filepath.Join("..", "..")); err != nil {
		return "", err
	}
	if sources, err = listSources(); err != nil {
		return "", fmt.Errorf("list the sources: %w", err)
	}
	if folder, err = os.MkdirTemp("", "portico-e2e-*"); err != nil {
		return "", err
	}
	program = filepath.Join(folder, "portico")
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", program} // as releases; it also links in half the time
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return folder, nil
}

// listSources returns all source files of the program.
func listSources() (files []string, err error) {
	list, err := exec.Command("go", "list", "-deps", "-json=Dir,Module,GoFiles,EmbedFiles", ".").Output()
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			Dir                 string
			Module              *struct{ Main bool }
			GoFiles, EmbedFiles []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, err
		}
		if p.Module == nil || !p.Module.Main {
			continue
		}
		for _, file := range slices.Concat(p.GoFiles, p.EmbedFiles) {
			files = append(files, filepath.Join(p.Dir, file))
		}
	}
}

// dependOnSources stats the sources, so that go test does not reuse a cached result after they
// changed: the tests do not import the program. Tests must call it, since go test does not track
// TestMain. For the same reason it repeats the change of the working directory.
var dependOnSources = sync.OnceValue(func() error {
	if err := os.Chdir("."); err != nil {
		return err
	}
	for _, file := range sources {
		if _, err := os.Stat(file); err != nil {
			return err
		}
	}
	return nil
})

// command returns a process of portico that is not started yet.
func command(args ...string) *exec.Cmd {
	if err := dependOnSources(); err != nil {
		panic(err) // a source file was removed during the tests
	}
	c := exec.Command(program, args...)
	c.Env = environment()
	dbtest.EndWithTests(c)
	return c
}

// environment returns the environment without the variables of the tests, which the program would
// reject as unknown.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "PORTICO_TEST_") })
}

// portico runs a command to its end.
func portico(t testing.TB, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return porticoReading(t, nil, args...)
}

// porticoReading runs a command with a standard input.
func porticoReading(t testing.TB, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, complaints bytes.Buffer
	c := command(args...)
	c.Stdin, c.Stdout, c.Stderr = stdin, &out, &complaints
	if err := c.Run(); err != nil {
		require.ErrorAs(t, err, new(*exec.ExitError), "%s", args)
	}
	return c.ProcessState.ExitCode(), out.String(), complaints.String()
}

// mustRun runs a command that must succeed, and returns its standard output.
func mustRun(t testing.TB, args ...string) string {
	t.Helper()
	code, stdout, stderr := portico(t, args...)
	require.Zero(t, code, "%s: %s", args, stderr)
	return stdout
}

// database returns flags for a new SQLite database in a temporary directory.
func database(t testing.TB) (flags []string, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "portico.db")
	return []string{"--database-url", "file:" + path, "--synchronous", "OFF"}, path
}
