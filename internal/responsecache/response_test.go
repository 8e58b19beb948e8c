package responsecache_test

import (
	"compress/gzip"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/responsecache"
)

// ask serves a response to a request. headers are pairs of name and value.
func ask(a *responsecache.Response, header ...string) *http.Response {
	w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	a.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

func TestServeHTTPWritesHeader(t *testing.T) {
	t.Parallel()
	a := responsecache.NewResponse([]byte(`{"data":1}`), http.Header{"Content-Type": {"application/json"}, "Content-Language": {"de"}})
	got := ask(a)
	require.Equal(t, http.StatusOK, got.StatusCode)
	require.Equal(t, http.Header{"Content-Type": {"application/json"}, "Content-Language": {"de"}, "Content-Length": {"10"},
		"Etag": {a.ETag}}, got.Header)
	require.Equal(t, `{"data":1}`, body(t, got))
}

func TestEntityTagDependsOnBody(t *testing.T) {
	t.Parallel()
	require.Equal(t, answer("A").ETag, answer("A").ETag)
	require.NotEqual(t, answer("A").ETag, answer("B").ETag)
	require.Regexp(t, `^"[0-9a-z.]+"$`, answer("").ETag)
}

func TestNotModified(t *testing.T) {
	t.Parallel()
	a := answer("A")
	small := strings.TrimSuffix(a.ETag, `"`) + `.gz"`
	for known, want := range map[string]int{
		a.ETag: 304, "W/" + a.ETag: 304, "*": 304, `"x", ` + a.ETag: 304, small: 304,
		`"x"`: 200, "": 200, strings.Trim(a.ETag, `"`): 200,
	} {
		got := ask(a, "If-None-Match", known)
		require.Equal(t, want, got.StatusCode, known)
		if want == 304 {
			require.Empty(t, body(t, got))
			require.Empty(t, got.Header.Get("Content-Type"))
			require.Contains(t, []string{a.ETag, small}, got.Header.Get("Etag"))
		}
	}
	require.Equal(t, 304, ask(a, "If-None-Match", `"x"`, "If-None-Match", a.ETag).StatusCode)
}

// TestCompressedResponse requires a compressed body with an entity tag of its own.
func TestCompressedResponse(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`{"name":"Chair"},`, 1000)
	a := answer(text)
	got := ask(a, "Accept-Encoding", "br, gzip;q=0.8")
	require.Equal(t, "gzip", got.Header.Get("Content-Encoding"))
	require.NotEqual(t, a.ETag, got.Header.Get("Etag"))
	require.Less(t, got.ContentLength, int64(len(text)/10))
	plain, err := gzip.NewReader(got.Body)
	require.NoError(t, err)
	unpacked, err := io.ReadAll(plain)
	require.NoError(t, err)
	require.Equal(t, text, string(unpacked))
	require.Equal(t, 304, ask(a, "Accept-Encoding", "gzip", "If-None-Match", got.Header.Get("Etag")).StatusCode)
	for _, refused := range []string{"", "br", "gzip;q=0", "gzip; q=0.0, *", "*;q=0"} {
		require.Empty(t, ask(a, "Accept-Encoding", refused).Header.Get("Content-Encoding"), refused)
	}
	require.Equal(t, "gzip", ask(a, "Accept-Encoding", "*").Header.Get("Content-Encoding"))

	small := ask(a, "Accept-Encoding", "gzip, zstd")
	require.Equal(t, "zstd", small.Header.Get("Content-Encoding"))
	require.Len(t, map[string]bool{a.ETag: true, got.Header.Get("Etag"): true, small.Header.Get("Etag"): true}, 3, "each form has its own tag")
	require.Less(t, small.ContentLength, int64(len(text)/10))
	require.Equal(t, 304, ask(a, "Accept-Encoding", "zstd", "If-None-Match", small.Header.Get("Etag")).StatusCode)
}

func TestIncompressibleResponse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("a", 1023), noise(4096)} {
		a := answer(text)
		for range 3 {
			got := ask(a, "Accept-Encoding", "gzip")
			require.Empty(t, got.Header.Get("Content-Encoding"))
			require.Equal(t, text, body(t, got))
		}
	}
}

func noise(n int) string {
	text := make([]byte, n)
	_, _ = rand.Read(text) // never fails
	return string(text)
}
