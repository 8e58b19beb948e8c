package middleware_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"portico/internal/web/middleware"
)

// long is a text of more than 1 kB.
var long = strings.Repeat(`{"name":"Chair"},`, 1000)

// written returns a handler that writes a text in pieces with a content type.
func written(kind string, pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for _, piece := range pieces {
			_, _ = io.WriteString(w, piece)
		}
	}
}

// sent returns the response without decompressing it.
func sent(handler http.Handler, method, encodings string, headers ...string) *http.Response {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, "/", nil)
	r.Header.Set("Accept-Encoding", encodings)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	middleware.Compress(handler).ServeHTTP(w, r)
	return w.Result()
}

func unpacked(t *testing.T, r *http.Response) string {
	t.Helper()
	var body io.Reader = r.Body
	var err error
	switch r.Header.Get("Content-Encoding") {
	case "gzip":
		body, err = gzip.NewReader(body)
	case "zstd":
		body, err = zstd.NewReader(body)
	}
	require.NoError(t, err)
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	return string(text)
}

func TestCompressLongText(t *testing.T) {
	t.Parallel()
	ready := func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"], w.Header()["Content-Length"] = []string{"application/json"}, []string{strconv.Itoa(len(long))}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, long)
	}
	for _, c := range []struct {
		name      string
		handler   http.HandlerFunc
		encodings string
		want      string // Content-Encoding
		status    int    // 200 unless set
	}{
		{"gzip", written("application/json", long), "gzip, deflate, br", "gzip", 0},
		{"zstd, where it is asked for", written("application/graphql-response+json", long), "gzip, deflate, br, zstd", "zstd", 0},
		{"in pieces", written("text/html; charset=utf-8", long[:10], long[10:20], long[20:3000], long[3000:]), "gzip", "gzip", 0},
		{"its length said before", ready, "gzip", "gzip", 201},
		{"who takes neither", written("application/json", long), "br", "", 0},
		{"what is no text", written("image/png", long), "gzip", "", 0},
		{"what nobody says the kind of", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long) }, "gzip", "", 0},
		{"a stream", written("text/event-stream", long), "gzip", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 { // reuses the writers
				got := sent(c.handler, "GET", c.encodings)
				require.Equal(t, max(c.status, 200), got.StatusCode)
				require.Equal(t, c.want, got.Header.Get("Content-Encoding"))
				if kind := got.Header.Get("Content-Type"); strings.Contains(kind, "json") || strings.Contains(kind, "html") {
					require.Equal(t, []string{"Accept-Encoding"}, got.Header.Values("Vary"), "whoever asks")
				}
				if c.want != "" {
					require.Empty(t, got.Header.Get("Content-Length"))
				}
				require.Equal(t, long, unpacked(t, got))
			}
		})
	}
}

func TestCompressLeavesShortResponses(t *testing.T) {
	t.Parallel()
	for _, pieces := range [][]string{{long[:1023]}, {long[:500], long[500:1023]}, {""}, {}} {
		got := sent(written("application/json", pieces...), "GET", "gzip")
		require.Equal(t, http.StatusOK, got.StatusCode)
		require.Empty(t, got.Header.Get("Content-Encoding"))
		require.Empty(t, got.Header.Get("Vary"))
		require.Equal(t, strings.Join(pieces, ""), unpacked(t, got))
	}
	got := sent(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), "GET", "gzip")
	require.Equal(t, http.StatusNoContent, got.StatusCode)
}

func TestCompressLeavesEncodedResponses(t *testing.T) {
	t.Parallel()
	got := sent(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept, Accept-Encoding")
		written("application/json", long)(w, r)
	}), "GET", "gzip, zstd")
	require.Equal(t, "gzip", got.Header.Get("Content-Encoding"))
	require.Equal(t, []string{"Accept, Accept-Encoding"}, got.Header.Values("Vary"))
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	require.Equal(t, long, string(text))
}

// TestCompressLeavesStreams requires that flushed data is sent before the response ends.
func TestCompressLeavesStreams(t *testing.T) {
	t.Parallel()
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	middleware.Compress(http.HandlerFunc(func(p http.ResponseWriter, _ *http.Request) {
		p.Header().Set("Content-Type", "text/event-stream")
		for i := range 100 {
			_, _ = io.WriteString(p, long[:100])
			require.NoError(t, http.NewResponseController(p).Flush())
			require.True(t, w.Flushed)
			require.Equal(t, 100*(i+1), w.Body.Len())
		}
	})).ServeHTTP(w, r)
	require.Empty(t, w.Header().Get("Content-Encoding"))
}

// TestCompressedETag requires that a compressed response can be revalidated by its entity tag.
func TestCompressedETag(t *testing.T) {
	t.Parallel()
	document := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(long))
	})
	got := sent(document, "GET", "gzip")
	require.Equal(t, "gzip", got.Header.Get("Content-Encoding"))
	require.Equal(t, `W/"v1"`, got.Header.Get("ETag"), "the bytes are others")
	require.Empty(t, got.Header.Get("Accept-Ranges"))
	require.Equal(t, long, unpacked(t, got))
	for _, tag := range []string{`W/"v1"`, `"v1"`} {
		unmodified := sent(document, "GET", "gzip", "If-None-Match", tag)
		require.Equal(t, http.StatusNotModified, unmodified.StatusCode)
		require.Equal(t, "Accept-Encoding", unmodified.Header.Get("Vary"))
	}
	head := sent(document, "HEAD", "gzip")
	require.Equal(t, "gzip", head.Header.Get("Content-Encoding"), "as GET would have it")
	require.Equal(t, "Accept-Encoding", head.Header.Get("Vary"))
	part := sent(document, "GET", "gzip", "Range", "bytes=0-1999")
	require.Equal(t, http.StatusPartialContent, part.StatusCode)
	require.Empty(t, part.Header.Get("Content-Encoding"))
	require.Equal(t, long[:2000], unpacked(t, part))
}

// TestCompressPassesPanics requires that Recover can write the response of a handler that panics
// before writing.
func TestCompressPassesPanics(t *testing.T) {
	t.Parallel()
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	require.Panics(t, func() {
		middleware.Compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			panic("a handler")
		})).ServeHTTP(w, r)
	})
	require.Zero(t, w.Body.Len())
}

// BenchmarkCompress measures compressed responses, and the overhead for others.
func BenchmarkCompress(b *testing.B) {
	for _, c := range []struct{ name, encodings, text string }{
		{"short", "gzip", long[:200]}, {"long, plain", "", long}, {"long, gzip", "gzip", long}, {"long, zstd", "zstd", long},
	} {
		b.Run(c.name, func(b *testing.B) {
			body, kind := []byte(c.text), []string{"application/json"}
			handler := middleware.Compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = kind
				_, _ = w.Write(body)
			}))
			w, r := &nowhere{header: http.Header{}}, httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept-Encoding", c.encodings)
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				handler.ServeHTTP(w, r)
			}
		})
	}
}

// nowhere discards the response.
type nowhere struct {
	header http.Header
	bytes.Buffer
}

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n *nowhere) WriteHeader(int)             {}
