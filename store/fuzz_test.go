package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/cachekey"
	"portico/store"
)

// FuzzParseCursor: any text is rejected, or is what a cursor is signed as.
//
//	go test ./store -run - -fuzz FuzzParseCursor
func FuzzParseCursor(f *testing.F) {
	key := store.NewCursorKey("secret")
	for _, cursor := range []store.Cursor{
		{List: store.NewListID(cachekey.New("a"))}, {List: store.ListID{1}, Release: 7, Position: 3, Epoch: 2}, {List: store.ListID{1}, Key: []any{"b", 12}},
	} {
		f.Add(key.Sign(cursor))
	}
	for _, seed := range []string{"", "====", "bnVsbA", "e30", "eyJsIjoxfQ", "eyJsIjoieCIsInAiOi0xfQ", "eyJsIjoieCIsInAiOjFlOTl9", "eyJsIjoieCIsImsiOltbW11dXX0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cursor, err := key.Parse(text, store.ListID{}, "after")
		if err != nil {
			require.True(t, store.HasCode(err, store.Invalid), "%v", err)
			return
		}
		require.Equal(t, text, key.Sign(cursor))
	})
}

// FuzzParseTime: any text is rejected, or is a time of the years 1 to 9999 that round-trips.
//
//	go test ./store -run - -fuzz FuzzParseTime
func FuzzParseTime(f *testing.F) {
	for _, seed := range []string{
		"2012-05-30T00:00:00.000", "2012-05-30T00:00:00.000Z", "2012-05-30T23:59:60Z", "2012-05-30 12:30", "2012-05-30", "0001-01-01", "9999-12-31T23:59:59.999-23:59",
		"0000-01-01", "10000-01-01", "2012-02-30", "2012-05-30T00:00:00,5Z", "", "now", "٢٠١٢-05-30",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		moment, err := store.ParseTime(text)
		if err != nil {
			require.True(t, store.HasCode(err, store.Invalid), "%v", err)
			return
		}
		require.Equal(t, time.UTC, moment.Location())
		require.Zero(t, moment.Nanosecond()%int(time.Millisecond))
		again, err := store.ParseTime(store.FormatTime(moment))
		require.NoError(t, err, "%q is shown as %q", text, store.FormatTime(moment))
		require.True(t, again.Equal(moment), "%q", text)
	})
}

// FuzzParseGlobalID: any text is rejected, or its id round-trips.
//
//	go test ./store -run - -fuzz FuzzParseGlobalID
func FuzzParseGlobalID(f *testing.F) {
	for _, seed := range []string{store.GlobalID(store.TypeProduct, "a"), store.GlobalID(store.TypeStock, "A-B"), "", "UHJvZHVjdDo", "UHJvZHVjdDph=", "Ojo6"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		kind, id, ok := store.ParseGlobalID(text)
		if !ok {
			return
		}
		again, local, ok := store.ParseGlobalID(store.GlobalID(kind, id))
		require.True(t, ok)
		require.Equal(t, []string{kind, id}, []string{again, local})
	})
}
