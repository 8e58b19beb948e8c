package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web"
	"portico/internal/web/middleware"
)

func TestNormalizePath(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ sent, path, raw string }{
		{"/", "/", "/"}, {"", "/", "/"}, {"//", "/", "/"},
		{"/v2/promotions", "/v2/promotions", "/v2/promotions"},
		{"/v2/promotions/", "/v2/promotions", "/v2/promotions"},
		{"/v2/promotions//", "/v2/promotions", "/v2/promotions"},
		{"//v2/promotions", "/v2/promotions", "/v2/promotions"},
		{"/v2//promotions", "/v2/promotions", "/v2/promotions"},
		{"/v2/promotions//codes", "", ""}, // empty id
		{"/v2/promotions/a//b", "", ""},
		{"/v2/promotions/%74en", "/v2/promotions/ten", "/v2/promotions/%74en"},
		{"/v2/promotions/a%2Fb/", "/v2/promotions/a/b", "/v2/promotions/a%2Fb"},
		{"/v2/promotions/..%2F..%2Fb", "/v2/promotions/../../b", "/v2/promotions/..%2F..%2Fb"},
		{"/v2/promotions/a/..", "", ""}, {"/v2/../v2", "", ""}, {"/.", "", ""}, {"/..", "", ""}, {"/v2/./x", "", ""},
		{"/v2/%2e%2e", "", ""}, {"/v2/.%2E/x", "", ""}, {"/v2/%2e", "", ""}, {"/v2/%2F", "", ""},
		{"/v2/...", "/v2/...", "/v2/..."}, {"/v2/.a", "/v2/.a", "/v2/.a"},
		{"/v2/%252e%252e", "/v2/%2e%2e", "/v2/%252e%252e"},
		{"/v2/a%5c..%5cb", `/v2/a\..\b`, "/v2/a%5c..%5cb"},
		{"/v2/a;b", "/v2/a;b", "/v2/a;b"},
	} {
		u, err := url.Parse(test.sent)
		if test.sent == "//v2/promotions" || test.sent == "//" { // net/url would parse a host
			u, err = url.ParseRequestURI("http://x" + test.sent)
		}
		require.NoError(t, err)
		canonical, ok := middleware.CanonicalURL(u)
		require.Equal(t, test.path != "", ok, test.sent)
		if ok {
			require.Equal(t, test.path, canonical.Path, test.sent)
			require.Equal(t, test.raw, canonical.EscapedPath(), test.sent)
			again, ok := middleware.CanonicalURL(canonical)
			require.True(t, ok)
			require.Equal(t, canonical.EscapedPath(), again.EscapedPath())
		}
	}
}

func TestNormalizePathRejectsInvalidUTF8(t *testing.T) {
	t.Parallel()
	handler := middleware.NormalizePath(envelope, "Store-Channel")(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, test := range []struct {
		target, header, value string
		want                  string
	}{
		{"/v2/x?filter=eq(name,%C3%A9)&y=%", "Store-Channel", "café", ""},
		{"/v2/x", "X-City", "M\xfcnchen", ""}, // not a checked header
		{"/v2/%ff", "", "", "The path is not valid UTF-8"},
		{"/v2/%ed%a0%80", "", "", "The path is not valid UTF-8"},
		{"/v2/x?a=1&filter=eq(name,%ff)", "", "", `parameter \"filter\" is not valid UTF-8`},
		{"/v2/x?f%ff=1", "", "", `parameter \"f\\xff\" is not valid UTF-8`},
		{"/v2/x?a=1&filter=\xff", "", "", `parameter \"filter\" is not valid UTF-8`},
		{"/v2/x", "Store-Channel", "M\xfcnchen", "header Store-Channel is not valid UTF-8"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", test.target, nil)
		if test.header != "" {
			r.Header.Set(test.header, test.value)
		}
		handler.ServeHTTP(w, r)
		if test.want == "" {
			require.Equal(t, 200, w.Code, test.target)
			continue
		}
		require.Contains(t, w.Body.String(), test.want, test.target)
	}
}

func TestFirstSegment(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"/catalog": "catalog", "/catalogue/x": "catalogue", "/%63atalog/x": "catalog", "/catalog%2Fx": "catalog/x", "/": "", "/v2/catalog": "v2",
	} {
		u, err := url.Parse(sent)
		require.NoError(t, err)
		require.Equal(t, want, web.FirstSegment(u), sent)
	}
}
