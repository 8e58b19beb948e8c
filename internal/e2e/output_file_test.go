package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// No command writes over the database, what belongs to it, or what it imports; not through a link either.
func TestOutputsSpareTheDatabase(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	mustRun(t, append([]string{"import", "internal/demo/shop.ndjson"}, flags...)...)
	folder := t.TempDir()
	link, shop := filepath.Join(folder, "link.db"), filepath.Join(folder, "shop.ndjson")
	require.NoError(t, os.Symlink(path, link))
	lines, err := os.ReadFile("internal/demo/shop.ndjson")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(shop, lines, 0o600))
	key := strings.TrimSuffix(path, ".db") + ".key"
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("A", 43)+"=\n"), 0o600))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	for want, commands := range map[string][][]string{
		" is a SQLite database. Name another file": {
			{"export", path}, {"export", link}, {"codes", "export", "--promotion", "promo-early-bird", path}, {"import", "--dry-run", "--report", path, shop}},
		" belongs to the SQLite database ": {{"export", path + "-wal"}, {"import", "--dry-run", "--report", path + ".lock", shop},
			{"backup", path + "-wal"}},
		" is a key file, ":                     {{"backup", key}, {"export", key}, {"import", "--dry-run", "--report", key, shop}},
		" is the database itself":              {{"backup", path}, {"backup", link}},
		" would be imported, or replace what ": {{"import", "--dry-run", "--report", shop, shop}, {"import", "--dry-run", "--report", filepath.Join(folder, "found.csv"), folder}},
	} {
		for _, command := range commands {
			code, _, stderr := portico(t, slices.Concat(command, flags)...)
			require.NotZero(t, code, command)
			require.Contains(t, stderr, want, command)
		}
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	still, err := os.ReadFile(shop)
	require.NoError(t, err)
	require.Equal(t, lines, still)
}

// A backup with damaged pages is not restored, wherever they are.
func TestDamagedBackupIsNotRestored(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	mustRun(t, append([]string{"import", "internal/demo/shop.ndjson"}, flags...)...)
	folder := t.TempDir()
	file := filepath.Join(folder, "shop.backup")
	mustRun(t, append([]string{"backup", file}, flags...)...)
	backup, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, page := range []int{20, 25, 30, 60} {
		damaged := slices.Clone(backup)
		for i := page * 4096; i < (page+2)*4096; i++ {
			damaged[i] ^= byte(i*31 + 7)
		}
		require.NoError(t, os.WriteFile(file, damaged, 0o600))
		place := filepath.Join(t.TempDir(), "new.db")
		code, _, stderr := portico(t, "restore", file, "--database-url", "file:"+place)
		require.Equal(t, 1, code, "page %d", page)
		require.Contains(t, stderr, "damaged", "page %d", page)
		require.NoFileExists(t, place)
	}
}
