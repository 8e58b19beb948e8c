package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
)

// Times in the usual form are what package time reads.
func TestReadUsualTime(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(0000|0001|1999|2024|9999)-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9][.,][0-9]{3}`).Draw(t, "time")
		want, err := time.Parse("2006-01-02T15:04:05.000", text)
		for _, zone := range []string{"", "Z"} {
			got, readErr := store.ReadTime(text + zone)
			if err != nil || want.Year() < 1 {
				require.Error(t, readErr, text)
			} else {
				require.NoError(t, readErr)
				require.Equal(t, want.UTC(), got)
			}
		}
	})
}

func TestFormatTimeBare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := store.FromMicros(rapid.Int64Range(-62_135_596_800_000_000, 253_402_300_799_999_999).Draw(t, "microseconds"))
		require.Equal(t, at.Format("2006-01-02T15:04:05.000"), store.FormatTimeBare(at))
	})
}

func TestReadTimeAllocations(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = store.ReadTime("2024-05-01T12:30:59.123Z") }))
}
