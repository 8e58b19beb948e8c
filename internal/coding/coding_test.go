package coding_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"portico/internal/coding"
)

func TestTheCodingIsTheOneThatIsWeighedMost(t *testing.T) {
	t.Parallel()
	for encodings, want := range map[string]*coding.Coding{
		"": nil, "br": nil, "identity": nil, "gzip;q=0": nil, "gzip; q=0.0, *": nil, "*;q=0": nil, "gzip;q=x": nil, "gzip;level=1": nil,
		"gzip": coding.Gzip, "GZIP": coding.Gzip, "*": coding.Gzip, "br, gzip;q=0.8": coding.Gzip, "gzip, deflate": coding.Gzip,
		"zstd": coding.Zstd, "gzip, deflate, br, zstd": coding.Zstd, "zstd;q=0.5, gzip": coding.Gzip, "gzip;q=0.5, zstd;q=0.5": coding.Zstd,
		"zstd;q=0, gzip": coding.Gzip, "zstd;q=0": nil,
	} {
		require.Same(t, want, coding.Chosen([]string{encodings}), encodings)
	}
	require.Same(t, coding.Gzip, coding.Chosen([]string{"br", "gzip"}))
	require.Nil(t, coding.Chosen(nil))
	require.Equal(t, `"a.gz"`, coding.Gzip.Tag(`"a"`))
}

// page is as much JSON as a page of products.
func page() []byte {
	var b bytes.Buffer
	for i := range 400 {
		fmt.Fprintf(&b, `{"id":"product-%d","name":"A chair of oak, number %d","price":{"amount":"%d","currency":"USD"},"stock":{"available":%d}},`, i*7919, i, i*131+99, i*17%101)
	}
	return b.Bytes()
}

func TestWhatIsCompressedIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []*coding.Coding{coding.Gzip, coding.Zstd} {
		for range 3 { // the same writer again
			var sent bytes.Buffer
			w := c.To(&sent)
			_, err := w.Write(page())
			require.NoError(t, err)
			require.NoError(t, w.Close())
			c.Done(w)
			require.Less(t, sent.Len(), len(page())/4, c.Name)
			require.Equal(t, page(), unpacked(t, c, &sent), c.Name)
		}
	}
}

func unpacked(t *testing.T, c *coding.Coding, sent io.Reader) []byte {
	t.Helper()
	var plain io.Reader
	var err error
	if c == coding.Gzip {
		plain, err = gzip.NewReader(sent)
	} else {
		plain, err = zstd.NewReader(sent)
	}
	require.NoError(t, err)
	text, err := io.ReadAll(plain)
	require.NoError(t, err)
	return text
}

// BenchmarkAnswer is what an answer of a page costs to compress.
func BenchmarkAnswer(b *testing.B) {
	body := page()
	for _, c := range []*coding.Coding{coding.Gzip, coding.Zstd} {
		b.Run(c.Name, func(b *testing.B) {
			var sent bytes.Buffer
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				sent.Reset()
				w := c.To(&sent)
				_, _ = w.Write(body)
				_ = w.Close()
				c.Done(w)
			}
			b.ReportMetric(float64(sent.Len()), "sent")
		})
	}
}
