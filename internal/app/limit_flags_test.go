package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// repeatNumbered repeats a text n times and replaces each %d by the index.
func repeatNumbered(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
	}
	return b.String()
}

// graphqlBody returns the body of a GraphQL request.
func graphqlBody(query, variables string) string {
	return `{"query":` + string(store.Encode(query)) + `,"variables":` + variables + `,"operationName":null}`
}

// TestDocumentLimitFlags requires a flag for each limit on documents. Through the whole
// handler, the limit itself passes, and one more is rejected with the limit in the error.
func TestDocumentLimitFlags(t *testing.T) {
	t.Parallel()
	of := func(query string) string { return graphqlBody(query, "{}") }
	tests := map[string]struct {
		bound int
		send  func(n int) string // a request that uses n
		slack int                // how far the library's count may differ
	}{
		"document-bytes":       {100, func(n int) string { return of("{__typename}" + strings.Repeat(" ", n-12)) }, 0},
		"document-tokens":      {20, func(n int) string { return of("{" + repeatNumbered(n-2, "a%d ") + "}") }, 1},
		"document-depth":       {5, func(n int) string { return of("{" + repeatNumbered(n-1, "parent{") + "id" + repeatNumbered(n, "}")) }, 0},
		"document-name":        {50, func(n int) string { return of("{" + strings.Repeat("a", n) + ":__typename}") }, 0},
		"document-fields":      {5, func(n int) string { return of("{" + repeatNumbered(n, "a%d:__typename ") + "}") }, 0},
		"document-root-fields": {5, func(n int) string { return of("{" + repeatNumbered(n, "a%d:__typename ") + "}") }, 0},
		"document-aliases":     {5, func(n int) string { return of(`{a:product(by:{id:"x"}){` + repeatNumbered(n, "a%d:id ") + "}}") }, 0},
		"document-repeats": {36, func(n int) string {
			return of("{" + repeatNumbered(map[bool]int{true: 7, false: 6}[n > 36], "__typename ") + "}")
		}, 0},
		"document-operations": {5, func(n int) string { return of(repeatNumbered(n, "query q%d{__typename}")) }, 0},
		"document-fragments": {5, func(n int) string {
			return of("{" + repeatNumbered(n, "...f%d ") + "}" + repeatNumbered(n, " fragment f%d on Query{__typename}"))
		}, 0},
		"document-variables":  {5, func(n int) string { return of("query(" + repeatNumbered(n, "$v%d:ID! ") + "){__typename}") }, 0},
		"document-directives": {5, func(n int) string { return of("{" + repeatNumbered(n, "a%d:__typename @include(if:true) ") + "}") }, 0},
		"document-steps":      {9, func(n int) string { return of("{" + repeatNumbered(n, "a%d:__typename ") + "}") }, 0},
		"document-cost":       {9, func(n int) string { return of("{" + repeatNumbered(n, "a%d:__typename ") + "}") }, 0},
		"document-response-bytes": {60, func(n int) string {
			return of("{" + strings.Repeat("a", n-len(`{"data":{"":"Query"}}`)) + ":__typename}")
		}, 1},
		"request-values": {50, func(n int) string {
			return graphqlBody("{__typename}", `{"a":[`+strings.TrimSuffix(repeatNumbered(n-5, "1,"), ",")+`]}`)
		}, 1},
		"request-nesting": {9, func(n int) string {
			return graphqlBody("{__typename}", `{"a":`+strings.Repeat("[", n-2)+strings.Repeat("]", n-2)+`}`)
		}, 1},
	}
	defaults := newEmptyServer(t).Documents
	require.Len(t, tests, strings.Count(fmt.Sprintf("%+v", defaults), ":"), "each limit has a test")
	for flag, test := range tests {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			h := newEmptyServer(t, "--"+flag, strconv.Itoa(test.bound))
			rejected := func(n int) bool {
				body := test.send(n)
				r, w := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body)), httptest.NewRecorder()
				r.Header.Set("Content-Type", "application/json")
				h.handler.ServeHTTP(w, r)
				over := strings.Contains(w.Body.String(), fmt.Sprintf("at most %d are allowed", test.bound)) ||
					strings.Contains(w.Body.String(), strconv.Itoa(test.bound)) && strings.Contains(w.Body.String(), string(store.Unprocessable))
				if !over {
					require.NotContains(t, w.Body.String(), "are allowed", body)
				}
				return over
			}
			first := test.bound - test.slack
			for ; !rejected(first) && first <= test.bound+test.slack+1; first++ {
			}
			require.InDelta(t, test.bound+1, first, float64(test.slack), "the first rejected size")
			require.False(t, rejected(first-1), "the limit itself passes")
			require.True(t, rejected(first+1))
		})
	}
}

// TestBodyLimitFlag requires that --body-bytes alone limits bodies, of GraphQL and REST alike,
// below and above the default.
func TestBodyLimitFlag(t *testing.T) {
	t.Parallel()
	for _, bound := range []int{2000, 5 << 20} {
		t.Run(strconv.Itoa(bound), func(t *testing.T) {
			t.Parallel()
			h := newDemoServer(t, "--body-bytes", strconv.Itoa(bound), "--document-bytes", strconv.Itoa(8<<20))
			for _, route := range []struct{ method, path, begins, ends string }{
				{http.MethodPost, "/graphql", `{"query":"{__typename}"`, "}"}, {http.MethodPut, "/v2/settings", `{"data":{"type":"settings"`, "}}"},
			} {
				status := func(size int) int {
					body := route.begins + strings.Repeat(" ", size-len(route.begins)-len(route.ends)) + route.ends
					w := httptest.NewRecorder()
					h.handler.ServeHTTP(w, h.request(context.Background(),
						testRequest{method: route.method, path: route.path, body: body, header: []string{"Content-Type", "application/json"}}))
					return w.Code
				}
				require.Equal(t, http.StatusOK, status(bound), route.path)
				require.Equal(t, http.StatusRequestEntityTooLarge, status(bound+1), route.path)
			}
		})
	}
}

// TestJobLimitFlags limits the unfinished jobs of a client and the codes they will create. No
// worker runs here.
func TestJobLimitFlags(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		at    []int // codes of each job that is accepted
		over  int
		says  string
		never int // a count above the limit of one job; 0 for none
	}{
		"jobs-client":   {[]int{1, 1, 1}, 1, "This client has 3 queued or running jobs; the limit is 3; retry when a job has finished, or cancel one.", 0},
		"codes-client":  {[]int{2, 1}, 1, "count is too high, 1: this client already waits for 3 codes; the limit is 3; retry", 4},
		"codes-waiting": {[]int{2, 1}, 1, "count is too high, 1: all clients wait for 3 codes; the limit is 3; retry", 4},
	}
	for flag, test := range tests {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			h := newDemoServer(t, "--"+flag, "3")
			ask := func(count int) string {
				return h.sendGraphQL(t, fmt.Sprintf(`mutation{promotionCodesGenerate(input:{promotionId:"promo-early-bird",pattern:"############",count:%d}){job{total}userErrors{message}}}`, count))
			}
			if test.never > 0 {
				require.Contains(t, ask(test.never), "count must be at most 3, got 4; split the request")
			}
			for _, count := range test.at {
				require.Contains(t, ask(count), fmt.Sprintf(`{"job":{"total":%d},"userErrors":[]}`, count))
			}
			require.Contains(t, ask(test.over), test.says)
		})
	}
}

// TestIdempotencyKeyLimitFlags limits the keys of a client. The server checks the limits
// from time to time, so a few more keys may be accepted.
func TestIdempotencyKeyLimitFlags(t *testing.T) {
	t.Parallel()
	for flag, test := range map[string]struct {
		bound, least, most int // keys before one is rejected
		says               string
	}{
		"keys-client":       {20, 20, 22, "may have 20 keys and 268435456 bytes"},
		"keys-client-bytes": {200, 2, 40, "may have 100000 keys and 200 bytes"},
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			h := newDemoServer(t, "--"+flag, strconv.Itoa(test.bound))
			taken, answer := 0, ""
			for ; taken <= test.most; taken++ {
				answer = h.sendGraphQL(t, fmt.Sprintf(`mutation{settingsUpdate(input:{pageLength:25,idempotencyKey:"k%d"}){settings{pageLength}userErrors{message}}}`, taken))
				if strings.Contains(answer, "exceeds the quota") {
					break
				}
				require.Contains(t, answer, `"userErrors":[]`)
			}
			require.Contains(t, answer, test.says)
			require.Contains(t, answer, "retry later, or send the request without a key")
			require.GreaterOrEqual(t, taken, test.least)
		})
	}
}

// sendGraphQL returns the response to a document.
func (h *testServer) sendGraphQL(t *testing.T, document string) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, h.request(t.Context(),
		testRequest{method: http.MethodPost, path: "/graphql", body: graphqlBody(document, "{}"),
			header: []string{"Content-Type", "application/json"}}))
	return w.Body.String()
}
