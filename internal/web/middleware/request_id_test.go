package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"portico/internal/reqctx"
	"portico/internal/web/middleware"
)

func TestRequestIDKeepsValidHeader(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, sent string
		kept       bool
	}{
		{"none", "", false},
		{"a word", "checkout-7", true},
		{"all the characters", "aZ09._-", true},
		{"the longest", strings.Repeat("a", 64), true},
		{"too long", strings.Repeat("a", 65), false},
		{"a space", "a b", false},
		{"a line break", "a\nlevel=ERROR", false},
		{"not ASCII", "caf\u00e9", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var seen string
			handler := middleware.RequestID(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				seen = reqctx.From(r.Context()).ID
			}))
			w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
			if test.sent != "" {
				r.Header.Set("X-Request-Id", test.sent)
			}
			handler.ServeHTTP(w, r)
			require.Equal(t, seen, w.Header().Get("X-Request-Id"), "the answer's id against the context's")
			if test.kept {
				require.Equal(t, test.sent, seen)
				return
			}
			id, err := uuid.Parse(seen)
			require.NoError(t, err, seen)
			require.EqualValues(t, 7, id.Version())
		})
	}
}
