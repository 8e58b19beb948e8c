package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	mustRun(t, append([]string{"import", "internal/demo/shop.ndjson"}, flags...)...)
	s := startServer(t, slices.Concat(flags, unlimited)...)
	client, token := s.client(t, flags...)
	response, _ := s.send(t, "PUT", "/v2/gateways/card_processor",
		`{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"first"}}`, "Authorization", "Bearer "+token)
	require.Equal(t, 200, response.StatusCode)
	file := filepath.Join(t.TempDir(), "shop.backup")
	s.underLoad(t, client, token, func() {
		for range 2 {
			require.Contains(t, mustRun(t, append([]string{"backup", file}, flags...)...), "backed up ")
		}
	})
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file is left")

	code, _, stderr := portico(t, append([]string{"restore", file}, flags...)...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "portico.db already exists. Move it away first")
	require.Zero(t, s.stop())

	place := filepath.Join(t.TempDir(), "new.db")
	elsewhere := []string{"--database-url", "file:" + place}
	require.Contains(t, mustRun(t, append([]string{"restore", file}, elsewhere...)...), "restored ")
	key := strings.TrimSuffix(path, ".db") + ".key"
	again := startServer(t, append(elsewhere, "--key-file", key)...)
	response, answer := again.send(t, "GET", "/v2/gateways/card_processor", "", "Authorization", "Bearer "+token)
	require.Equal(t, 200, response.StatusCode, "the signing key is in the backup")
	require.Contains(t, answer, `"password":"********"`)
	response, answer = again.send(t, "GET", "/catalog/products", "", "Authorization", "Bearer "+token)
	require.Equal(t, 200, response.StatusCode)
	require.NotContains(t, answer, `"total":0`)

	none := filepath.Join(t.TempDir(), "none.db")
	require.NoError(t, os.WriteFile(file, []byte("no database"), 0o600))
	code, _, stderr = portico(t, "restore", file, "--database-url", "file:"+none)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "is not a SQLite database")
	left, err = os.ReadDir(filepath.Dir(none))
	require.NoError(t, err)
	require.Empty(t, left, "an invalid backup creates no database")
}

func TestBackupRejectsPostgreSQL(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		if e.Name == "sqlite" {
			return
		}
		code, _, stderr := portico(t, "backup", filepath.Join(t.TempDir(), "file"), "--database-url", e.URL(t))
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "pg_dump")
	})
}
