package exchange

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/internal/datagen"
	"portico/store"
)

// FuzzDecodeLine: any line is rejected with errors, or its source round-trips. The fast decoder
// reads the same as the strict one.
//
//	go test ./store/exchange -run - -fuzz FuzzDecodeLine
func FuzzDecodeLine(f *testing.F) {
	for _, seed := range []string{
		`{"type":"product","id":"a","name":"A","sku":"S"}`, `{"type":"file","id":"f","file_name":"a.png","link":{"href":"https://x.example/a"}}`,
		`{"type":"promotion","id":"p","name":"P","description":"","promotion_type":"fixed_discount","start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":5}]}}`,
		`{"type":"stock","id":"a","available":3}`, `{"type":"price_book","id":"b"}`, `{"type":"node","id":"n","hierarchy_id":"h","name":"N"}`,
		`{"type":"nothing"}`, `{}`, `[]`, `null`, `"`, `{"type":"product","type":"file"}`, `{"type":"product","id":1e400}`, "{\"type\":\"product\",\"id\":\"\xff\"}",
		`{"type":"product","id":"a","name":"\u0000"}`, `{"type":"stock","id":"a","available":2.0}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, line []byte, lenient bool) {
		requireSameDecoders(t, line)
		d := newLineDecoder(ImportOptions{Lenient: lenient}).Decode(line)
		for _, fault := range append(d.Errors, d.Ignored...) {
			require.NotEmpty(t, fault.Error())
			require.NotEqual(t, store.Internal, fault.Code, "%v", fault)
		}
		if d.Source == nil || len(d.Errors) > 0 {
			require.NotEmpty(t, append(d.Errors, d.Ignored...), "%q", line)
			return
		}
		text, err := json.Marshal(d.Source)
		require.NoError(t, err)
		again := newLineDecoder(ImportOptions{Lenient: lenient}).Decode(text)
		require.Empty(t, again.Errors, "%q is written as %q", line, text)
		twice, err := json.Marshal(again.Source)
		require.NoError(t, err)
		require.True(t, bytes.Equal(text, twice), "%q, then %q", text, twice)
	})
}

// requireSameDecoders fails if the fast decoder accepts a line that the strict one rejects or reads
// otherwise.
func requireSameDecoders(t require.TestingT, line []byte) (fast bool) {
	decoder := newLineDecoder(ImportOptions{})
	if store.CheckImportLine(line) != nil {
		return false
	}
	read := decoder.DecodeFast(line)
	if read.Source == nil {
		return false
	}
	read.Check()
	require.Equal(t, decoder.DecodeStrictly(line), read, "%q", line)
	return true
}

// TestFastDecoderReadsTheSame changes lines of a shop at random. Unchanged lines must not need the
// strict decoder.
func TestFastDecoderReadsTheSame(t *testing.T) {
	t.Parallel()
	var shop bytes.Buffer
	require.NoError(t, datagen.WriteShop(&shop, 60, 1))
	lines := bytes.Split(bytes.TrimSpace(shop.Bytes()), []byte("\n"))
	for _, line := range lines {
		require.True(t, requireSameDecoders(t, line), "%q", line)
	}
	tokens := regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[0-9.]+|true|false|null|[{}\[\]:,]`)
	pieces := []string{`null`, `true`, `1`, `2.0`, `1e2`, `-1`, `99999999999999999999`, `""`, `"x"`, `"\u00e9"`, `"id"`, `"ID"`, `"Name"`, `"unknown"`, `{}`, `[]`, `[null]`, `{"a":1,"a":2}`, ` `, `,`, `}`, `]`}
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom(lines).Draw(t, "line")
		places := tokens.FindAllIndex(line, -1)
		for range rapid.IntRange(1, 2).Draw(t, "changes") {
			at := rapid.SampledFrom(places).Draw(t, "at")
			by := []byte(rapid.SampledFrom(pieces).Draw(t, "by"))
			if rapid.Bool().Draw(t, "token of the line") {
				other := rapid.SampledFrom(places).Draw(t, "other")
				by = bytes.Clone(line[other[0]:other[1]])
			}
			line = slices.Concat(line[:at[0]], by, line[min(at[1], len(line)):])
			if places = tokens.FindAllIndex(line, -1); len(places) == 0 {
				break
			}
		}
		requireSameDecoders(t, line)
	})
}
