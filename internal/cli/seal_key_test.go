package cli

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/seal"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// sameKey reports whether two sealers have the same key.
func sameKey(t *testing.T, s, other *seal.Sealer) bool {
	t.Helper()
	plain, err := other.Open("field", s.Seal("field", []byte("secret")))
	return err == nil && string(plain) == "secret"
}

func TestKeyFileNextToTheDatabase(t *testing.T) {
	t.Parallel()
	for i, test := range []struct{ database, key string }{
		{"portico.db", "portico.key"},
		{"portico.db?mode=rwc", "portico.key"},
		{"my%20shop.db", "my shop.key"},
		{"shop", "shop.key"},
	} {
		directory := filepath.Join(t.TempDir(), strconv.Itoa(i))
		_, err := (&SealKeyFlags{}).Sealer(t.Context(), "file:"+directory+"/"+test.database, discard())
		require.ErrorIs(t, err, fs.ErrNotExist, "it creates no folder")
		require.NoError(t, os.Mkdir(directory, 0o700))
		t.Run(test.database, func(t *testing.T) {
			address := "file:" + directory + "/" + test.database
			first, err := (&SealKeyFlags{}).Sealer(t.Context(), address, discard())
			require.NoError(t, err)
			info, err := os.Stat(filepath.Join(directory, test.key))
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			second, err := (&SealKeyFlags{}).Sealer(t.Context(), address, discard())
			require.NoError(t, err)
			require.True(t, sameKey(t, first, second), "the key stays")
			entries, err := os.ReadDir(directory)
			require.NoError(t, err)
			require.Len(t, entries, 1)
		})
	}
}

func TestConcurrentStartsShareAKey(t *testing.T) {
	t.Parallel()
	address := "file:" + filepath.Join(t.TempDir(), "portico.db")
	sealers := make([]*seal.Sealer, 8)
	var all sync.WaitGroup
	for i := range sealers {
		all.Go(func() {
			var err error
			if sealers[i], err = (&SealKeyFlags{}).Sealer(t.Context(), address, discard()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, s := range sealers {
		require.True(t, sameKey(t, sealers[0], s))
	}
}

func TestGivenKeys(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{0xfb}, seal.KeySize) // has + and / in base64
	want, err := seal.New(key)
	require.NoError(t, err)
	const postgres = "postgres://localhost/x"
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		text := encoding.EncodeToString(key)
		got, err := (&SealKeyFlags{SealKey: text}).Sealer(t.Context(), postgres, discard())
		require.NoError(t, err)
		require.True(t, sameKey(t, want, got))

		file := filepath.Join(t.TempDir(), "key")
		require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o600))
		got, err = (&SealKeyFlags{KeyFile: file}).Sealer(t.Context(), postgres, discard())
		require.NoError(t, err)
		require.True(t, sameKey(t, want, got))
	}
}

func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	short := filepath.Join(directory, "short")
	require.NoError(t, os.WriteFile(short, []byte("c2VjcmV0"), 0o600))
	for _, test := range []struct {
		name     string
		flags    SealKeyFlags
		database string
		want     string
	}{
		{"none for PostgreSQL", SealKeyFlags{}, "postgres://localhost/x", "openssl rand -base64 32"},
		{"no such file for PostgreSQL", SealKeyFlags{KeyFile: filepath.Join(directory, "no")}, "postgres://localhost/x", "no such file"},
		{"not base64", SealKeyFlags{SealKey: "c2VjcmV0 !"}, "file:x.db", "--seal-key must be 32 bytes in base64"},
		{"a short file", SealKeyFlags{KeyFile: short}, "file:x.db", short + " must be 32 bytes in base64"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.flags.Sealer(t.Context(), test.database, discard())
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "c2VjcmV0")
		})
	}
}

func TestReadableKeyFileIsLogged(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600))
	require.NoError(t, os.Chmod(file, 0o644))
	var log bytes.Buffer
	_, err := (&SealKeyFlags{KeyFile: file}).Sealer(t.Context(), "file:x.db", slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	require.True(t, strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), file), log.String())
}

// Kubernetes gives a Secret's files to root and to a group that only this process has.
func TestKeyFileOfSecret(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, test := range []struct {
		owner  int
		mode   os.FileMode
		others bool
	}{{0, 0o400, false}, {0, 0o440, true}, {65532, 0o440, false}, {65532, 0o460, true}, {65532, 0o444, true}} {
		require.NoError(t, os.Chown(file, test.owner, 65532))
		require.NoError(t, os.Chmod(file, test.mode))
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, test.others, othersMayRead(info), "%o of %d", test.mode, test.owner)
	}
}

// systemd restricts a file of LoadCredential= with an access control list, which
// os.Stat shows as a permission of the group.
func TestCredentialOfSystemd(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "seal.key")
	require.NoError(t, os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600))
	require.NoError(t, os.Chmod(file, 0o440))
	logged := func() string {
		var log bytes.Buffer
		_, err := (&SealKeyFlags{KeyFile: file}).Sealer(t.Context(), "file:x.db", slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		return log.String()
	}
	t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(folder))
	require.Contains(t, logged(), "other users can read the key file", "another folder")
	t.Setenv("CREDENTIALS_DIRECTORY", folder)
	require.Empty(t, logged())
}
