package middleware_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web/middleware"
)

func TestLimitBody(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		body      string
		announced bool
		read      string // bytes read
		refused   bool
	}{
		{"as long as it may be", "12345", true, "12345", false},
		{"too long, as it says itself", "123456", true, "", true},
		{"too long, as it turns out", "123456", false, "12345", true},
		{"none", "", true, "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler := middleware.LimitBody(5)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				read, err := io.ReadAll(r.Body)
				require.Equal(t, test.read, string(read))
				if !test.refused {
					require.NoError(t, err)
					return
				}
				var tooLong *http.MaxBytesError
				require.ErrorAs(t, err, &tooLong)
				require.EqualValues(t, 5, tooLong.Limit)
				w.WriteHeader(http.StatusRequestEntityTooLarge)
			}))
			server := httptest.NewServer(handler)
			defer server.Close()
			body := io.Reader(strings.NewReader(test.body))
			if !test.announced {
				body = io.MultiReader(body) // hides the length
			}
			response, err := http.Post(server.URL, "application/json", body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, test.refused, response.StatusCode == http.StatusRequestEntityTooLarge)
		})
	}
}
