package main

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

// repeated is a text n times, with its number for each %d.
func repeated(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", strconv.Itoa(i)))
	}
	return b.String()
}

// posted is a request of GraphQL, of a document and its variables.
func posted(query, variables string) string {
	return `{"query":` + string(store.Encode(query)) + `,"variables":` + variables + `,"operationName":null}`
}

// TestEveryBoundOfDocumentsIsAFlag that lets pass what is at it, and refuses
// one more, with words that name the bound; through the handler as it is
// served.
func TestEveryBoundOfDocumentsIsAFlag(t *testing.T) {
	t.Parallel()
	of := func(query string) string { return posted(query, "{}") }
	tests := map[string]struct {
		bound int
		send  func(n int) string // what is n of it
		slack int                // by which the count of the library differs
	}{
		"document-bytes":       {100, func(n int) string { return of("{__typename}" + strings.Repeat(" ", n-12)) }, 0},
		"document-tokens":      {20, func(n int) string { return of("{" + repeated(n-2, "a%d ") + "}") }, 1},
		"document-depth":       {5, func(n int) string { return of("{" + repeated(n-1, "parent{") + "id" + repeated(n, "}")) }, 0},
		"document-name":        {50, func(n int) string { return of("{" + strings.Repeat("a", n) + ":__typename}") }, 0},
		"document-fields":      {5, func(n int) string { return of("{" + repeated(n, "a%d:__typename ") + "}") }, 0},
		"document-root-fields": {5, func(n int) string { return of("{" + repeated(n, "a%d:__typename ") + "}") }, 0},
		"document-aliases":     {5, func(n int) string { return of(`{a:product(id:"x"){` + repeated(n, "a%d:id ") + "}}") }, 0},
		"document-repeats": {36, func(n int) string {
			return of("{" + repeated(map[bool]int{true: 7, false: 6}[n > 36], "__typename ") + "}")
		}, 0},
		"document-operations": {5, func(n int) string { return of(repeated(n, "query q%d{__typename}")) }, 0},
		"document-fragments": {5, func(n int) string {
			return of("{" + repeated(n, "...f%d ") + "}" + repeated(n, " fragment f%d on Query{__typename}"))
		}, 0},
		"document-variables":  {5, func(n int) string { return of("query(" + repeated(n, "$v%d:ID! ") + "){__typename}") }, 0},
		"document-directives": {5, func(n int) string { return of("{" + repeated(n, "a%d:__typename @include(if:true) ") + "}") }, 0},
		"document-steps":      {9, func(n int) string { return of("{" + repeated(n, "a%d:__typename ") + "}") }, 0},
		"document-cost":       {9, func(n int) string { return of("{" + repeated(n, "a%d:__typename ") + "}") }, 0},
		"request-values": {50, func(n int) string {
			return posted("{__typename}", `{"a":[`+strings.TrimSuffix(repeated(n-5, "1,"), ",")+`]}`)
		}, 1},
		"request-nesting": {9, func(n int) string {
			return posted("{__typename}", `{"a":`+strings.Repeat("[", n-2)+strings.Repeat("]", n-2)+`}`)
		}, 1},
	}
	defaults := cool(t).Documents
	require.Len(t, tests, strings.Count(fmt.Sprintf("%+v", defaults), ":"), "every bound has its test")
	for flag, test := range tests {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			h := cool(t, "--"+flag, strconv.Itoa(test.bound))
			refused := func(n int) bool {
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
			for ; !refused(first) && first <= test.bound+test.slack+1; first++ {
			}
			require.InDelta(t, test.bound+1, first, float64(test.slack), "the first that is refused")
			require.False(t, refused(first-1), "what is at the bound")
			require.True(t, refused(first+1))
		})
	}
}

// TestABodyIsBoundedByAFlag, on both surfaces alike, and by nothing else: a
// larger bound takes more than the default does.
func TestABodyIsBoundedByAFlag(t *testing.T) {
	t.Parallel()
	for _, bound := range []int{2000, 5 << 20} {
		t.Run(strconv.Itoa(bound), func(t *testing.T) {
			t.Parallel()
			h := heat(t, "--body-bytes", strconv.Itoa(bound), "--document-bytes", strconv.Itoa(8<<20))
			for _, route := range []struct{ method, path, begins, ends string }{
				{http.MethodPost, "/graphql", `{"query":"{__typename}"`, "}"}, {http.MethodPut, "/v2/settings", `{"data":{"type":"settings"`, "}}"},
			} {
				status := func(size int) int {
					body := route.begins + strings.Repeat(" ", size-len(route.begins)-len(route.ends)) + route.ends
					w := httptest.NewRecorder()
					h.handler.ServeHTTP(w, h.request(context.Background(), hotRequest{method: route.method, path: route.path, body: body, header: []string{"Content-Type", "application/json"}}))
					return w.Code
				}
				require.Equal(t, http.StatusOK, status(bound), route.path)
				require.Equal(t, http.StatusRequestEntityTooLarge, status(bound+1), route.path)
			}
		})
	}
}
