package encoding_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"portico/internal/encoding"
)

func TestNegotiate(t *testing.T) {
	t.Parallel()
	for encodings, want := range map[string]*encoding.Encoding{
		"": nil, "br": nil, "identity": nil, "gzip;q=0": nil, "gzip; q=0.0, *": nil, "*;q=0": nil, "gzip;q=x": nil, "gzip;level=1": nil,
		"gzip": encoding.Gzip, "GZIP": encoding.Gzip, "*": encoding.Gzip, "br, gzip;q=0.8": encoding.Gzip, "gzip, deflate": encoding.Gzip,
		"zstd": encoding.Zstd, "gzip, deflate, br, zstd": encoding.Zstd, "zstd;q=0.5, gzip": encoding.Gzip,
		"gzip;q=0.5, zstd;q=0.5": encoding.Zstd,
		"zstd;q=0, gzip":         encoding.Gzip, "zstd;q=0": nil,
	} {
		require.Same(t, want, encoding.Negotiate([]string{encodings}), encodings)
	}
	require.Same(t, encoding.Gzip, encoding.Negotiate([]string{"br", "gzip"}))
	require.Nil(t, encoding.Negotiate(nil))
	require.Equal(t, `"a.gz"`, encoding.Gzip.ETag(`"a"`))
}

// page is JSON of the size of a page of products.
func page() []byte {
	var b bytes.Buffer
	for i := range 400 {
		fmt.Fprintf(&b, `{"id":"product-%d","name":"A chair of oak, number %d","price":{"amount":"%d","currency":"USD"},"stock":{"available":%d}},`, i*7919, i, i*131+99, i*17%101)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range []*encoding.Encoding{encoding.Gzip, encoding.Zstd} {
		for range 3 { // the same writer again
			var sent bytes.Buffer
			w := c.NewWriter(&sent)
			_, err := w.Write(page())
			require.NoError(t, err)
			require.NoError(t, w.Close())
			c.Release(w)
			require.Less(t, sent.Len(), len(page())/4, c.Name)
			require.Equal(t, page(), unpacked(t, c, &sent), c.Name)
		}
	}
}

func unpacked(t *testing.T, c *encoding.Encoding, sent io.Reader) []byte {
	t.Helper()
	var plain io.Reader
	var err error
	if c == encoding.Gzip {
		plain, err = gzip.NewReader(sent)
	} else {
		plain, err = zstd.NewReader(sent)
	}
	require.NoError(t, err)
	text, err := io.ReadAll(plain)
	require.NoError(t, err)
	return text
}

// BenchmarkCompressPage measures the compression of a page.
func BenchmarkCompressPage(b *testing.B) {
	body := page()
	for _, c := range []*encoding.Encoding{encoding.Gzip, encoding.Zstd} {
		b.Run(c.Name, func(b *testing.B) {
			var sent bytes.Buffer
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				sent.Reset()
				w := c.NewWriter(&sent)
				_, _ = w.Write(body)
				_ = w.Close()
				c.Release(w)
			}
			b.ReportMetric(float64(sent.Len()), "sent")
		})
	}
}
