package exchange

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// FuzzDecodeLine: any line is rejected with errors, or its source round-trips.
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
		d := newLineDecoder(lenient).decode(line)
		for _, fault := range append(d.errs, d.ignored...) {
			require.NotEmpty(t, fault.Error())
			require.NotEqual(t, store.Internal, fault.Code, "%v", fault)
		}
		if d.source == nil || len(d.errs) > 0 {
			require.NotEmpty(t, append(d.errs, d.ignored...), "%q", line)
			return
		}
		text, err := json.Marshal(d.source)
		require.NoError(t, err)
		again := newLineDecoder(lenient).decode(text)
		require.Empty(t, again.errs, "%q is written as %q", line, text)
		twice, err := json.Marshal(again.source)
		require.NoError(t, err)
		require.True(t, bytes.Equal(text, twice), "%q, then %q", text, twice)
	})
}
