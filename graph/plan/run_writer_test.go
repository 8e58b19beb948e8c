package plan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/graph/plan"
)

// Strings are escaped as encoding/json escapes them, at each position of an eight-byte word.
func TestStringsAreEscapedLikeEncodingJSON(t *testing.T) {
	t.Parallel()
	same := func(t require.TestingT, text string) {
		var want bytes.Buffer
		graphql.MarshalString(text).MarshalGQL(&want)
		require.Equal(t, `x`+want.String(), string(plan.AppendString([]byte("x"), text)), "%q", text)
	}
	for b := range 256 {
		for before := range 17 {
			for _, after := range []int{0, 1, 8, 15} {
				same(t, strings.Repeat("a", before)+string([]byte{byte(b)})+strings.Repeat("\u007f", after))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) { same(t, rapid.String().Draw(t, "text")) })
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("A sturdy oak chair, made by hand. ", 20)
	dst := make([]byte, 0, 2*len(text))
	for b.Loop() {
		plan.AppendString(dst, text)
	}
	b.SetBytes(int64(len(text)))
}
