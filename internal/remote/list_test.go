package remote

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestExpiredCursors reads lists of a server whose cursors expire: the list is read from its start again only while that leads
// further than before.
func TestExpiredCursors(t *testing.T) {
	t.Parallel()
	const total = 500
	for _, test := range []struct {
		name    string
		expires func(after string, n int64) bool // whether a request fails: by its cursor, and as the n-th one
		want    []int                            // requests, status of the error, rows read, rows left
	}{
		{"at the first page", func(string, int64) bool { return true }, []int{1, http.StatusGone, 0, 0}},
		{"at each second page", func(after string, _ int64) bool { return after != "" }, []int{4, http.StatusGone, 200, 0}},
		{"later each time", func(_ string, n int64) bool { return n == 2 || n == 5 }, []int{9, 0, 600, 200}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				query, _ := url.ParseQuery(r.URL.RawQuery)
				after := query.Get("page[after]")
				switch {
				case r.URL.Path == "/oauth/access_token":
					fmt.Fprint(w, `{"access_token":"x"}`)
				case test.expires(after, requests.Add(1)):
					refuse(w, http.StatusGone, "the cursor has expired")
				case query.Has("sort"):
					refuse(w, http.StatusBadRequest, "sort is unknown")
				default:
					next := "page[after]=" + after + "x"
					if len(after) == 2 {
						next = fmt.Sprintf("page[offset]=%d", maxOffset+pageLength)
					}
					rows := strings.TrimSuffix(strings.Repeat(`{"id":"1"},`, pageLength), ",")
					fmt.Fprintf(w, `{"data":[%s],"links":{"next":"?%s"},"meta":{"results":{"total":%d}}}`, rows, next, total)
				}
			}))
			t.Cleanup(s.Close)
			c, err := newClient(Config{URL: s.URL, Credentials: Credentials{ID: testID}, Rate: 1e6, firstWait: time.Millisecond})
			require.NoError(t, err)
			var rows, left int
			l := resourceList{path: "/list"}
			err = c.walk(t.Context(), l, l.first(), func(p *page) error {
				rows, left = rows+len(p.Data), p.left
				return nil
			})
			require.Equal(t, test.want, []int{int(requests.Load()), status(err), rows, left})
		})
	}
}
