package exchange

import (
	"context"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange/check"
)

// endless is a file of many lines that counts those read.
type endless struct {
	left int
	read *atomic.Int64
	rest string
}

func (f *endless) Read(into []byte) (int, error) {
	if f.rest == "" {
		if f.left == 0 {
			return 0, io.EOF
		}
		f.left--
		f.read.Add(1)
		f.rest = `{"type":"stock","id":"p","available":1,"allocated":0,"total":1}` + "\n"
	}
	n := copy(into, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *endless) Close() error { return nil }

func TestImportReadAheadIsBounded(t *testing.T) {
	t.Parallel()
	const batch, lines = 500, 20 * 500
	options := ImportOptions{Batch: batch}
	var read atomic.Int64
	open := func() (io.ReadCloser, error) { return &endless{left: lines, read: &read}, nil }
	// Those decoded ahead, the current one, and the one being read.
	ahead := int64(batchesAhead()+2)*batch + (1<<20)/64
	done, last := int64(0), 0
	require.NoError(t, eachBatch(t.Context(), open, options, newLineDecoder(ImportOptions{}), func(decoded []check.Line) error {
		for _, d := range decoded {
			require.Equal(t, last+1, d.Number, "in the file's order")
			last = d.Number
		}
		runtime.Gosched()
		require.LessOrEqual(t, read.Load(), done+int64(len(decoded))+ahead)
		done += int64(len(decoded))
		return nil
	}))
	require.EqualValues(t, lines, done)

	read.Store(0)
	ctx, cancel := context.WithCancel(t.Context())
	err := eachBatch(ctx, open, options, newLineDecoder(ImportOptions{}), func([]check.Line) error { cancel(); return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, read.Load(), int64(lines), "and no further once it is given up")
}

func TestTypeMemberMayBeAnywhere(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`{"type":"stock","id":"p","available":1,"allocated":0,"total":1}`,
		`{"type":"stock","id":"p","available":1,"allocated":0,"total":1} {}`,
		`{"type":"stock","id":"p","available":1,"allocated":0,"total":1}]`,
		`{"type":"stock","id":"p","available":1,"allocated":0,"total":1,"type":"file"}`,
		`{"type":"stock","id":"p","available":1,"allocated":0,"total":1,"Type":"settings"}`,
		`{"type":"stock","id":"p","available":1.0,"allocated":0,"total":1}`,
		`{"type":"stock","id":"p","available":"1","allocated":0,"total":1,"colour":"red"}`,
		`{"type":"stock","id":"p","available":-1,"allocated":0,"total":1}`,
		`{"type":"stocks","id":"p"}`,
		`{"type":"stock`,
		`{"type":"stock"`,
		`{"type":null}`,
	} {
		for _, lenient := range []bool{false, true} {
			d := newLineDecoder(ImportOptions{Lenient: lenient})
			slow := d.Decode([]byte(strings.Replace(line, `{"type"`, `{ "type"`, 1)))
			fast := d.Decode([]byte(line))
			for _, faults := range []store.Errors{slow.Errors, fast.Errors} {
				for _, fault := range faults { // which may tell the column
					fault.Detail, _, _ = strings.Cut(fault.Detail, " at column")
				}
			}
			require.Equal(t, slow, fast, line)
		}
	}
}
