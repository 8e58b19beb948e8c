package cli

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/shop"
)

// The errors come from the system, not from the test.
func TestExplain(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text := filepath.Join(folder, "text.db")
	require.NoError(t, os.WriteFile(text, []byte("this file is long enough, and is no database of any kind"), 0o600))
	open := func(url string) error {
		s, err := shop.Open(t.Context(), shop.Config{URL: url})
		if err == nil {
			require.NoError(t, s.Close())
		}
		return err
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { taken.Close() })
	listen := func(address string) error { _, err := net.Listen("tcp", address); return err }
	read := func(path string) error { _, err := os.ReadFile(path); return err }
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a folder that is not there": {open("file:" + filepath.Join(folder, "a", "b", "shop.db")),
			"the folder " + filepath.Join(folder, "a", "b") + " does not exist. Create it, or correct the path"},
		"a directory as database": {open("file:" + folder), folder + " is a folder. Name a file in it"},
		"no database":             {open("file:" + text), text + " is not a SQLite database; name the file of a Portico database"},
		"a port in use": {listen(taken.Addr().String()),
			"address " + taken.Addr().String() + " is already in use. Stop the other process, or choose another address with --addr or --admin-addr"},
		"an address of another machine": {listen("203.0.113.9:9999"),
			"this machine does not have the address 203.0.113.9:9999. Choose another one with --addr or --admin-addr"},
		"a missing file": {read(filepath.Join(folder, "none")),
			filepath.Join(folder, "none") + " does not exist. Correct the path"},
		"a file as folder": {read(filepath.Join(text, "x")),
			"a part of the path " + filepath.Join(text, "x") + " is a file, not a folder. Correct the path"},
		"a directory as file":       {read(folder), folder + " is a folder. Name a file in it"},
		"a rename onto a directory": {os.Rename(text, folder), folder + " is a folder. Name a file in it"},
		"a missing right": {&fs.PathError{Op: "open", Path: "/x", Err: fs.ErrPermission},
			"no permission to read or write /x. Change its permissions, or choose another path"},
		"nothing that listens": {open("postgres://nobody@127.0.0.1:1/shop"),
			"PostgreSQL does not accept connections for 127.0.0.1/shop; start it, or correct host and port in the database URL"},
		"a host that is not there": {open("postgres://nobody@host.invalid/shop"),
			"the host of host.invalid/shop was not found; correct the host in the database URL"},
	} {
		require.Error(t, c.err, name)
		require.Equal(t, c.want, explain(fmt.Errorf("some work: %w", c.err)), name)
	}
	require.NoDirExists(t, filepath.Join(folder, "a"))
}
