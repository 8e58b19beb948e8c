package seal_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/seal"
)

// sealer returns a sealer whose key repeats one byte.
func sealer(t *testing.T, fill byte) *seal.Sealer {
	t.Helper()
	s, err := seal.New(bytes.Repeat([]byte{fill}, seal.KeySize))
	require.NoError(t, err)
	return s
}

func TestSealerOpensWhatItSealed(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{"", "x", "a password", string(make([]byte, 4096))} {
		sealed := sealer(t, 1).Seal("gateway/card_processor/password", []byte(plain))
		opened, err := sealer(t, 1).Open("gateway/card_processor/password", sealed)
		require.NoError(t, err)
		require.Equal(t, plain, string(opened))
	}
}

func TestSealerFormat(t *testing.T) {
	t.Parallel()
	const versionKeyIDNonceTag = 1 + 4 + 12 + 16
	one := sealer(t, 1).Seal("f", []byte("secret"))
	two := sealer(t, 1).Seal("f", []byte("secret"))
	require.Len(t, one, versionKeyIDNonceTag+len("secret"))
	require.Equal(t, byte(1), one[0])
	require.Equal(t, one[:5], two[:5], "the version and the key id")
	require.NotEqual(t, one[5:], two[5:], "the nonce must be another one each time")
	require.NotContains(t, string(one), "secret")
}

func TestSealerRejects(t *testing.T) {
	t.Parallel()
	sealed := sealer(t, 1).Seal("f", []byte("secret"))
	changed := func(i int) []byte {
		b := bytes.Clone(sealed)
		b[i] ^= 1
		return b
	}
	tests := []struct {
		name   string
		opener byte
		field  string
		sealed []byte
		want   string
	}{
		{"another key", 2, "f", sealed, "the value was sealed with a different key"},
		{"another key id", 1, "f", changed(1), "the value was sealed with a different key"},
		{"another field", 1, "g", sealed, "belongs to another field"},
		{"a changed nonce", 1, "f", changed(5), "damaged"},
		{"a changed text", 1, "f", changed(len(sealed) - 1), "damaged"},
		{"an unknown version", 1, "f", changed(0), "newer version"},
		{"cut short", 1, "f", sealed[:20], "damaged"},
		{"nothing", 1, "f", nil, "damaged"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			plain, err := sealer(t, test.opener).Open(test.field, test.sealed)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "secret")
			require.Nil(t, plain)
		})
	}
	_, err := sealer(t, 2).Open("f", sealed)
	require.ErrorIs(t, err, seal.ErrKey)
}

func TestNewRequires32Bytes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 16, 31, 33} {
		_, err := seal.New(make([]byte, size))
		require.EqualError(t, err, fmt.Sprintf("the sealing key must be 32 bytes long, got %d", size))
	}
}

func TestSealerPrintsNoSecret(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"%v", "%+v", "%s"} {
		require.Regexp(t, `^sealing key [0-9a-f]{8}$`, fmt.Sprintf(format, sealer(t, 7)))
	}
}
