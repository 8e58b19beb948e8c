package model_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"

	"portico/graph/model"
	"portico/store"
)

func marshalled(m graphql.Marshaler) string {
	var b strings.Builder
	m.MarshalGQL(&b)
	return b.String()
}

func TestTimesAreUTCWithMilliseconds(t *testing.T) {
	t.Parallel()
	summer := time.FixedZone("", 2*3600)
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2012, 5, 30, 0, 0, 0, 0, time.UTC), `"2012-05-30T00:00:00.000Z"`},
		{time.Date(2012, 5, 30, 1, 2, 3, 456_789_000, summer), `"2012-05-29T23:02:03.456Z"`},
		{time.Time{}, `null`},
	} {
		require.Equal(t, c.want, marshalled(model.MarshalDateTime(c.at)))
	}
}

func TestTimesRoundTrip(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"2012-05-30T00:00:00.000Z":      time.Date(2012, 5, 30, 0, 0, 0, 0, time.UTC),
		"2012-05-30T02:00:00+02:00":     time.Date(2012, 5, 30, 0, 0, 0, 0, time.UTC),
		"2012-05-30T00:00:00.000":       time.Date(2012, 5, 30, 0, 0, 0, 0, time.UTC),
		"2012-05-30":                    time.Date(2012, 5, 30, 0, 0, 0, 0, time.UTC),
		"2012-05-30T00:00:00.123456789": time.Date(2012, 5, 30, 0, 0, 0, 123_000_000, time.UTC),
	} {
		got, err := model.UnmarshalDateTime(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		again, err := model.UnmarshalDateTime(strings.Trim(marshalled(model.MarshalDateTime(got)), `"`))
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
}

// Text that is no time is INVALID.
func TestInvalidTimes(t *testing.T) {
	t.Parallel()
	for _, value := range []any{"", "yesterday", "2012-13-01", "0000-01-01", 5, json.Number("5"), true, []any{"2012-05-30"}, map[string]any{}} {
		_, err := model.UnmarshalDateTime(value)
		require.Error(t, err, "%v", value)
		require.True(t, store.HasCode(err, store.Invalid), "%T %v: %s", value, value, err)
		require.Contains(t, err.Error(), "2012-05-30T00:00:00.000Z", "the way out")
	}
}

func TestJSONScalarIsWrittenUnchanged(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{`{"a":[1,2.50,null]}`: `{"a":[1,2.50,null]}`, `[]`: `[]`, ``: `{}`} {
		require.Equal(t, want, marshalled(model.MarshalJSON(json.RawMessage(raw))))
	}
	raw, err := model.UnmarshalJSON(map[string]any{"a": json.Number("2.50")})
	require.NoError(t, err)
	require.Equal(t, `{"a":2.50}`, string(raw))
}
