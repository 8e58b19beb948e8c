package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// text is what a file holds.
func text(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(content)
}

func keyFileOf(database string) string { return strings.TrimSuffix(database, ".db") + ".key" }

func TestAMissingKeyIsNotMadeAnewBesideSecrets(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	good(t, append([]string{"import", demoShop}, flags...)...)
	require.NoFileExists(t, keyFileOf(path), "an import seals nothing")
	require.Zero(t, serving(t, flags...).stop(), "so that the first server makes the key")
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

	file := filepath.Join(t.TempDir(), "shop.ndjson") // the way out where the key is lost for good
	good(t, append([]string{"export", file}, flags...)...)
	elsewhere, _ := database(t)
	good(t, append([]string{"import", file}, elsewhere...)...)
	require.Zero(t, serving(t, elsewhere...).stop())

	require.NoError(t, os.WriteFile(keyFileOf(path), []byte(key), 0o600))
	require.Zero(t, serving(t, flags...).stop())
}

func TestNoRekeyLosesAFormerKey(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	require.Zero(t, serving(t, flags...).stop())
	backup := filepath.Join(t.TempDir(), "shop.backup")
	good(t, append([]string{"backup", backup}, flags...)...)
	former := ""
	for range 3 {
		former = text(t, keyFileOf(path)) + former
		good(t, append([]string{"rekey"}, flags...)...)
		require.Equal(t, former, text(t, keyFileOf(path)+".former"), "the latest first")
	}
	require.NotContains(t, former, text(t, keyFileOf(path)))

	place := "file:" + filepath.Join(t.TempDir(), "old.db")
	good(t, "restore", backup, "--database-url", place)
	require.Zero(t, serving(t, "--database-url", place, "--key-file", keyFileOf(path)+".former").stop(), "a backup of before opens with it")
}

func TestARekeyWithTheWrongKeyChangesNothing(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	require.Zero(t, serving(t, flags...).stop())
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
	require.Zero(t, serving(t, flags...).stop())

	none := filepath.Join(t.TempDir(), "none.db")
	code, _, _ := portico(t, "rekey", "--database-url", "file:"+none, "--seal-key", keyOf('a')+","+keyOf('b'))
	require.Equal(t, 1, code)
	require.NoFileExists(t, none, "it makes no database")
}

func TestFilesAreTheirOwners(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	folder := filepath.Dir(path)
	good(t, append([]string{"import", demoShop}, flags...)...)
	s := serving(t, flags...)
	good(t, append([]string{"backup", filepath.Join(folder, "shop.backup")}, flags...)...)
	good(t, append([]string{"export", filepath.Join(folder, "shop.ndjson")}, flags...)...)
	good(t, append([]string{"codes", "export", filepath.Join(folder, "codes.csv"), "--promotion", "promo-early-bird"}, flags...)...)
	good(t, append([]string{"rekey"}, flags...)...)
	good(t, "restore", filepath.Join(folder, "shop.backup"), "--database-url", "file:"+filepath.Join(folder, "restored.db"))
	var names []string
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
		names = append(names, entry.Name())
	}
	for _, name := range []string{"portico.db", "portico.db-wal", "portico.db-shm", "portico.key", "portico.key.former", "shop.backup", "shop.ndjson", "codes.csv", "restored.db"} {
		require.True(t, slices.Contains(names, name), "%s of %s", name, names)
	}
	require.NoError(t, os.Chmod(path, 0o640))
	require.Zero(t, s.stop())
	again := serving(t, flags...)
	require.Zero(t, again.stop())
	require.True(t, again.logs("other users can read the database"))
}
