package rest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// noon is the time in these tests, unless a clock advances.
var noon = time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)

// withClock makes a store use a clock.
func withClock(clock *testkit.Clock) func(*shop.Config) {
	return storetest.WithClock(clock)
}

// shopFile is storetest's shop with the node "odd", whose products have names that need quotes in
// filters.
func shopFile() string {
	lines := storetest.ShopLines()
	for _, odd := range []struct{ id, name string }{
		{"odd-1", `"a,b (c): \"d\" \\e"`}, {"odd-2", `"Two words"`}, {"odd-3", `"1+1=2 & 50%; é"`},
	} {
		lines = append(lines, `{"type":"product","id":"`+odd.id+`","attributes":{"name":`+odd.name+`,"sku":"`+odd.id+`","slug":"`+odd.id+
			`","status":"live","created_at":"2023-01-01T00:00:00.000Z","updated_at":"2024-01-01T00:00:00.000Z"}}`)
	}
	return strings.Join(append(lines, `{"type":"node","id":"odd","attributes":{"name":"Odd"},"relationships":{`+
		`"hierarchy":{"data":{"type":"hierarchy","id":"seasons"}},"products":{"data":[`+
		`{"type":"product","id":"odd-1"},{"type":"product","id":"odd-2"},{"type":"product","id":"odd-3"}]}}}`), "\n")
}

// productsOf returns the path of a node's products.
func productsOf(node string) string { return "/catalog/nodes/" + node + "/relationships/products" }

// scenario is a REST request with its expected response. runScenarios also checks what holds
// for every response.
type scenario struct {
	name    string
	method  string // GET unless set
	path    string
	headers []string // alternating names and values
	body    string
	status  int      // 200 unless set
	ids     []string // of data, in order; nil accepts any
	holds   []string // texts in the body
	lacks   []string
}

// runScenarios sends the requests in order.
func runScenarios(t *testing.T, s *testServer, scenarios []scenario) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			method, status := sc.method, sc.status
			if method == "" {
				method = http.MethodGet
			}
			if status == 0 {
				status = http.StatusOK
			}
			w := s.send(t, method, sc.path, sc.body, sc.headers...)
			body := w.Body.String()
			require.Equal(t, status, w.Code, "%s %.200s returns %.300s", method, sc.path, body)
			requireJSON(t, sc.path, w)
			if sc.ids != nil {
				require.Equal(t, sc.ids, readListBody(t, w).ids(), "the rows of %s", sc.path)
			}
			for _, text := range sc.holds {
				require.True(t, strings.Contains(body, text), "got %s\nwant it to hold %s", body, text)
			}
			for _, text := range sc.lacks {
				require.False(t, strings.Contains(body, text), "got %s\nwant it to lack %s", body, text)
			}
		})
	}
}

// requireJSON checks what holds for every response with a body, and the envelope of an error.
func requireJSON(t require.TestingT, path string, w *httptest.ResponseRecorder) {
	require.Equal(t, "application/json", w.Header().Get("Content-Type"), "%s returns %.300s", path, w.Body)
	require.Equal(t, strconv.Itoa(w.Body.Len()), w.Header().Get("Content-Length"), "%s", path)
	require.True(t, json.Valid(w.Body.Bytes()), "%s returns %.300s", path, w.Body)
	if w.Code >= http.StatusBadRequest {
		requireEnvelope(t, path, w)
	}
}

// requireEnvelope checks an error. Its status is a string under /catalog and a number
// elsewhere, and it always has a detail and a code.
func requireEnvelope(t require.TestingT, path string, w *httptest.ResponseRecorder) {
	var envelope map[string][]map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &envelope), "%s", w.Body)
	require.Len(t, envelope, 1, "%s", w.Body)
	require.NotEmpty(t, envelope["errors"], "%s", w.Body)
	for _, e := range envelope["errors"] {
		require.Subset(t, []string{"status", "title", "detail", "code", "source"}, slices.Collect(maps.Keys(e)), "%v", e)
		require.Regexp(t, "^[A-Z_]+$", e["code"], "%v", e)
		if strings.HasPrefix(path, "/catalog") {
			require.Equal(t, strconv.Itoa(w.Code), e["status"], "%s", w.Body)
		} else {
			require.Equal(t, float64(w.Code), e["status"], "%s", w.Body)
		}
		require.NotEmpty(t, e["title"])
		if documented := regexp.MustCompile(`^(Promotion code already in use|Cannot add codes to an automatic promotion)`); !documented.MatchString(e["detail"].(string)) {
			require.Regexp(t, `^\S.*\.$`, e["detail"], "a detail is a sentence")
		}
	}
	require.Equal(t, w.Code == http.StatusUnauthorized, w.Header().Get("WWW-Authenticate") == "Bearer", "WWW-Authenticate of a %d", w.Code)
	require.Equal(t, w.Code == http.StatusMethodNotAllowed, w.Header().Get("Allow") != "", "Allow of a %d", w.Code)
}

// listBody is the response of a list.
type listBody struct {
	Data []struct {
		ID         string `json:"id"`
		Attributes struct {
			UpdatedAt string `json:"updated_at"`
			Curated   *bool  `json:"curated_product"`
		} `json:"attributes"`
	} `json:"data"`
	Links map[string]*string `json:"links"`
	Meta  struct {
		Results struct {
			Total int `json:"total"`
		} `json:"results"`
		Page struct {
			Limit   int `json:"limit"`
			Offset  int `json:"offset"`
			Current int `json:"current"`
			Total   int `json:"total"`
		} `json:"page"`
	} `json:"meta"`
}

func (l *listBody) ids() []string {
	ids := make([]string, len(l.Data))
	for i, row := range l.Data {
		ids[i] = row.ID
	}
	return ids
}

// link returns the path of a linked page, or nothing without the link. The links of stock are query
// strings.
func (l *listBody) link(name string) string {
	link := l.Links[name]
	if link == nil {
		return ""
	}
	if strings.HasPrefix(*link, "?") {
		return "/v2/inventories" + *link
	}
	return *link
}

// readListBody parses a list.
func readListBody(t require.TestingT, w *httptest.ResponseRecorder) *listBody {
	require.Equal(t, http.StatusOK, w.Code, "%.300s", w.Body)
	l := &listBody{}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), l), "%s", w.Body)
	return l
}

// sendRequest sends a request without headers or a body.
func sendRequest(handler http.Handler, method, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w
}
