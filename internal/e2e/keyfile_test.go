package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// text returns the content of a file.
func text(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(content)
}

func keyFileOf(database string) string { return strings.TrimSuffix(database, ".db") + ".key" }

func TestMissingKeyFileIsNotReplaced(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it starts several servers; the tests of internal/cli read key files, and TestRekeyWithSealKeyFlag changes the key")
	flags, path := database(t)
	mustRun(t, append([]string{"import", demoShop}, flags...)...)
	require.NoFileExists(t, keyFileOf(path), "an import seals no secrets")
	require.Zero(t, startServer(t, flags...).stop(), "the first server creates the key")
	key := text(t, keyFileOf(path))
	require.NoError(t, os.Remove(keyFileOf(path)))

	for _, command := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"keys", "rotate"}, {"rekey"}} {
		code, _, stderr := portico(t, append(command, flags...)...)
		require.Equal(t, 1, code, "%s: %s", command, stderr)
		require.NoFileExists(t, keyFileOf(path))
		require.Contains(t, stderr, keyFileOf(path))
	}
	_, _, stderr := portico(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	require.Contains(t, stderr, "Restore the file from your copy, or set PORTICO_SEAL_KEY or --key-file.")

	file := filepath.Join(t.TempDir(), "shop.ndjson") // how to recover from a lost key
	mustRun(t, append([]string{"export", file}, flags...)...)
	elsewhere, _ := database(t)
	mustRun(t, append([]string{"import", file}, elsewhere...)...)
	require.Zero(t, startServer(t, elsewhere...).stop())

	require.NoError(t, os.WriteFile(keyFileOf(path), []byte(key), 0o600))
	require.Zero(t, startServer(t, flags...).stop())
}

func TestRekeyKeepsFormerKeys(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it starts several servers; the tests of internal/cli read key files, and TestRekeyWithSealKeyFlag changes the key")
	flags, path := database(t)
	require.Zero(t, startServer(t, flags...).stop())
	backup := filepath.Join(t.TempDir(), "shop.backup")
	mustRun(t, append([]string{"backup", backup}, flags...)...)
	former := ""
	for range 3 {
		former = text(t, keyFileOf(path)) + former
		mustRun(t, append([]string{"rekey"}, flags...)...)
		require.Equal(t, former, text(t, keyFileOf(path)+".former"), "latest key first")
	}
	require.NotContains(t, former, text(t, keyFileOf(path)))

	place := "file:" + filepath.Join(t.TempDir(), "old.db")
	mustRun(t, "restore", backup, "--database-url", place)
	require.Zero(t, startServer(t, "--database-url", place, "--key-file", keyFileOf(path)+".former").stop(), "opens the older backup")
}

func TestRekeyWithWrongKey(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it starts several servers; the tests of internal/cli read key files, and TestRekeyWithSealKeyFlag changes the key")
	flags, path := database(t)
	require.Zero(t, startServer(t, flags...).stop())
	right := text(t, keyFileOf(path))
	for _, wrong := range []string{keyOf('w') + "\n", keyOf('n') + "\n" + keyOf('w') + "\n"} {
		require.NoError(t, os.WriteFile(keyFileOf(path), []byte(wrong), 0o600))
		code, _, stderr := portico(t, append([]string{"rekey"}, flags...)...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "Nothing was changed")
		require.Equal(t, wrong, text(t, keyFileOf(path)))
		require.NoFileExists(t, keyFileOf(path)+".former")
	}
	require.NoError(t, os.WriteFile(keyFileOf(path), []byte(right), 0o600))
	require.Zero(t, startServer(t, flags...).stop())

	none := filepath.Join(t.TempDir(), "none.db")
	code, _, _ := portico(t, "rekey", "--database-url", "file:"+none, "--seal-key", keyOf('a')+","+keyOf('b'))
	require.Equal(t, 1, code)
	require.NoFileExists(t, none, "creates no database")
}

func TestFilePermissions(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	folder := filepath.Dir(path)
	mustRun(t, append([]string{"import", demoShop}, flags...)...)
	s := startServer(t, flags...)
	mustRun(t, append([]string{"backup", filepath.Join(folder, "shop.backup")}, flags...)...)
	mustRun(t, append([]string{"export", "--clients", filepath.Join(folder, "shop.ndjson")}, flags...)...)
	mustRun(t, append([]string{"codes", "export", filepath.Join(folder, "codes.csv"), "--promotion", "promo-early-bird"}, flags...)...)
	mustRun(t, append([]string{"rekey"}, flags...)...)
	mustRun(t, "restore", filepath.Join(folder, "shop.backup"), "--database-url", "file:"+filepath.Join(folder, "restored.db"))
	var names []string
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
		names = append(names, entry.Name())
	}
	for _, name := range []string{"portico.db", "portico.db-wal", "portico.db-shm", "portico.key", "portico.key.former", "shop.backup",
		"shop.ndjson", "codes.csv", "restored.db"} {
		require.True(t, slices.Contains(names, name), "%s of %s", name, names)
	}
	require.NoError(t, os.Chmod(path, 0o640))
	require.Zero(t, s.stop())
	again := startServer(t, flags...)
	require.Zero(t, again.stop())
	require.True(t, again.logs("other users can read the database"))
}
