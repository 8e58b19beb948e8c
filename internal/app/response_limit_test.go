package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// firstEventRecorder records an event stream and cancels the request after the first event.
type firstEventRecorder struct {
	*httptest.ResponseRecorder
	end context.CancelFunc
}

func (e *firstEventRecorder) Flush() {
	if strings.Contains(e.Body.String(), "event: next") {
		e.end()
	}
}

// send returns the response to a request, or the first event of its stream.
func (h *testServer) send(t *testing.T, q testRequest) (status int, body string) {
	t.Helper()
	r, w := h.request(t.Context(), q), httptest.NewRecorder()
	if r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if r.Header.Get("Accept") != "text/event-stream" {
		h.handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	h.handler.ServeHTTP(&firstEventRecorder{w, end}, r.WithContext(ctx))
	_, body, _ = strings.Cut(w.Body.String(), "event: next\ndata: ")
	body, _, _ = strings.Cut(body, "\n")
	return w.Code, body
}

// TestResponseByteLimit requires that a response above --document-response-bytes fails as a
// whole, on every path, and that a shorter one succeeds.
func TestResponseByteLimit(t *testing.T) {
	t.Parallel()
	const bound = 1000
	const texts = "{id name description a:name b:description c:name d:description e:updatedAt f:createdAt}"
	stream := []string{"Accept", "text/event-stream"}
	posts := func(query string, header ...string) testRequest {
		return testRequest{name: query, method: http.MethodPost, path: "/graphql", body: graphqlBody(query, "{}"), header: header}
	}
	long := []testRequest{
		posts("{products(first:10){nodes" + texts + "}}"),
		posts("{products(first:10){nodes{id name description a:description stock{available total}}}}"),
		posts("{products(first:10){nodes{stock{product{description a:description}}}}}"),
		posts("{" + repeatNumbered(20, "p%d:product(by:{id:\"prod-espresso\"}){description}") + "}"),
		posts("{product(by:{id:\"prod-espresso\"}){" + repeatNumbered(50, "a%d:description ") + "}}"),
		posts("{" + repeatNumbered(100, "a%d:__typename ") + "}"),
		posts("{settings{" + repeatNumbered(200, "a%d:pageLength ") + "}}"),
		posts("{products(first:10){nodes{tags productTypes shopperAttributes extensions variantOptions{uuid}}}}"),
		posts("{promotions{nodes{id name description details{__typename} a:description b:description c:id d:id e:description f:description g:id}}}"),
		{name: "by GET", method: http.MethodGet, path: "/graphql?query=" + url.QueryEscape("{products(first:10){nodes"+texts+"}}")},
		posts("{products(first:10){nodes"+texts+"}}", stream...),
		posts("{__schema{types{name description}}}"),
		posts("{__schema{types{name description}}}", stream...),
		posts("mutation{settingsUpdate(input:{pageLength:25}){settings{" + repeatNumbered(200, "a%d:pageLength ") + "}}}"),
		posts("mutation{"+repeatNumbered(40, "m%d:settingsUpdate(input:{pageLength:25}){settings{pageLength}userErrors{message}}")+"}",
			stream...),
		posts("subscription{stockChanged(productIds:[\"prod-espresso\"]){product{"+repeatNumbered(50, "a%d:description ")+"}}}", stream...),
		posts("subscription{catalogPublished{"+repeatNumbered(100, "a%d:id ")+"}}", stream...),
	}
	for _, path := range []string{"/catalog/products", "/catalog/products?include=main_image,files,component_products",
		"/catalog/products/prod-breakfast?include=component_products",
		"/catalog/nodes", "/catalog/nodes/node-coffee/relationships/products", "/catalog/hierarchies/hierarchy-shop/nodes", "/v2/files",
		"/v2/promotions"} {
		long = append(long, testRequest{name: path, method: http.MethodGet, path: path})
	}
	short := []testRequest{posts("{settings{currency}}"), posts("{settings{currency}}", stream...),
		posts("{__schema{queryType{name}}}"), posts("mutation{settingsUpdate(input:{pageLength:25}){userErrors{message}}}"),
		posts("subscription{stockChanged(productIds:[\"prod-espresso\"]){available}}", stream...),
		{name: "page", method: http.MethodGet, path: "/v2/files?page[limit]=1"}}
	free := newDemoServer(t)
	for flags, h := range map[string]*testServer{"": newDemoServer(t, "--document-response-bytes", fmt.Sprint(bound)),
		"without a cache": newDemoServer(t, "--document-response-bytes", fmt.Sprint(bound), "--response-cache-bytes", "0"),
		"by gqlgen":       newDemoServer(t, "--document-response-bytes", fmt.Sprint(bound), "--executor", "gqlgen")} {
		for _, q := range long {
			_, body := free.send(t, q)
			require.Greater(t, len(body), bound, "%s %s", q.name, body)
			for range 2 { // the second time from the caches
				status, body := h.send(t, q)
				require.Contains(t, body, fmt.Sprintf("larger than %d bytes, which the server allows; request fewer rows or fields", bound),
					"%s %s", flags, q.name)
				require.NotContains(t, strings.TrimSuffix(body, `,"data":null}`), `"data"`, q.name) // gqlgen writes an event without data so
				if strings.HasPrefix(q.path, "/graphql") {
					require.Contains(t, body, `"code":"`+string(store.Unprocessable)+`"`, q.name)
				} else {
					require.Equal(t, http.StatusUnprocessableEntity, status, q.name)
					require.Contains(t, body, `{"errors":[{"status":`, q.name)
				}
			}
		}
		for _, q := range short {
			status, body := h.send(t, q)
			require.Equal(t, http.StatusOK, status, q.name)
			require.NotContains(t, body, `"errors"`, q.name)
		}
	}
}

// longShop is an import file of products whose descriptions have a number of bytes each.
func longShop(products, bytes int) string {
	var b strings.Builder
	b.WriteString(`{"type":"settings","page_length":25,"currency":"USD","locale":"en"}
{"type":"hierarchy","id":"all","attributes":{"name":"All","slug":"all"}}
{"type":"pricebook","id":"prices","attributes":{"name":"Prices"}}
{"type":"catalog","id":"catalog","attributes":{"name":"Catalog","locale":"en","pricebook_ids":[{"id":"prices","priority":1}],"hierarchies":["all"]}}
`)
	var attached []string
	for i := range products {
		attached = append(attached, fmt.Sprintf(`{"type":"product","id":"p%d"}`, i))
		description := strings.Repeat("<p class='x'>Nine \"words\" of which each is kept as it is.</p>\n", bytes/62)
		fmt.Fprintf(&b, `{"type":"product","id":"p%d","attributes":{"name":"Product %d","sku":"S%d","slug":"p%d","status":"live","commodity_type":"physical","created_at":"2025-03-01T08:00:00.000Z","updated_at":"2025-03-01T08:00:00.000Z","description":%s}}`+"\n",
			i, i, i, i, store.Encode(description))
		fmt.Fprintf(&b, `{"type":"stock","id":"p%d","available":5,"allocated":0,"total":5}`+"\n", i)
	}
	fmt.Fprintf(&b, `{"type":"node","id":"node","attributes":{"name":"Node","slug":"node"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"all"}},"products":{"data":[%s]}}}`+"\n", strings.Join(attached, ","))
	return b.String()
}

// TestLongResponseStopsEarly limits the memory that a response of several hundred megabytes
// allocates before it fails. It is not parallel: it would count the memory of other tests.
func TestLongResponseStopsEarly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.ndjson")
	require.NoError(t, os.WriteFile(path, []byte(longShop(100, 20_000)), 0o600))
	t.Setenv("PORTICO_TEST_BENCH_SHOP", path)
	const most = 64 << 20
	aliases := repeatNumbered(440, "a%d:description ")
	for name, flags := range map[string][]string{"plans": nil, "plans without a cache": {"--response-cache-bytes", "0"},
		"gqlgen": {"--executor", "gqlgen"}} {
		h := newDemoServer(t, flags...)
		for _, q := range []struct {
			query  string
			header []string
		}{
			{"{products(first:100){nodes{" + aliases + "}}}", nil},
			{"{products(first:100){nodes{" + aliases + " stock{available}}}}", nil},
			{"{products(first:100){edges{node{" + aliases + "}}}}", nil},
			{"{products(first:100){nodes{...F}}} fragment F on Product{" + aliases + "}", nil},
			{"{" + repeatNumbered(40, "p%d:product(by:{id:\"p%d\"}){...F}") + "} fragment F on Product{" +
				aliases[:strings.Index(aliases, "a100:")] + "}", nil},
			{"{products(first:100){nodes{stock{product{" + aliases + "}}}}}", nil},
			{"{products(first:100){nodes{" + aliases + "}}}", []string{"Accept", "text/event-stream"}},
			{"subscription{stockChanged(productIds:[\"p1\"]){product{" + aliases + "}}}", []string{"Accept", "text/event-stream"}},
		} {
			if name == "gqlgen" || q.header != nil { // slower, so fewer rows
				q.query = strings.ReplaceAll(q.query, "first:100", "first:20")
			}
			request := testRequest{method: http.MethodPost, path: "/graphql", body: graphqlBody(q.query, "{}"), header: q.header}
			for range map[bool]int{true: 2, false: 1}[flags == nil] { // the second time from the cache
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				status, body := h.send(t, request)
				runtime.ReadMemStats(&after)
				require.Contains(t, body, "larger than 8388608 bytes", "%d %.100s", status, q.query)
				allocated := after.TotalAlloc - before.TotalAlloc
				t.Logf("%s: %4.1f MiB allocated by %.60s", name, float64(allocated)/(1<<20), q.query)
				require.Less(t, allocated, uint64(most), "%s: %.100s", name, q.query)
			}
		}
	}
}
