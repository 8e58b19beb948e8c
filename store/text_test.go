package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAppendTimeMatchesFormat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMicro(rapid.Int64Range(-62_167_219_200_000_000, 253_402_300_799_999_999).Draw(t, "at"))
		require.Equal(t, at.UTC().Format("2006-01-02T15:04:05.000Z"), string(AppendTime(nil, at)))
	})
}
