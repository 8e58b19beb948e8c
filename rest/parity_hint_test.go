package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// writes reports whether the REST request changes something.
func (q *parityCase) writes() bool {
	return q.method != http.MethodGet && !strings.HasPrefix(q.target, "/v2/inventories/multiple") && !strings.Contains(q.target, "/configure")
}

var (
	keys          atomic.Int64
	operationName = regexp.MustCompile(`^{"query":"\w+ (\w+)`)
)

// newKey returns an unused idempotency key.
func newKey() string { return fmt.Sprint("hint-", keys.Add(1)) }

// requireGraphQLHint sends the request of REST's header Graphql-Request to GraphQL and compares
// the two responses. It returns the operation's name, or nothing without the header. A write
// has the idempotency key of the REST request, so GraphQL must accept its input as the same and
// replay it.
func requireGraphQLHint(t *testing.T, s *testServer, q *parityCase, r *http.Request, w *httptest.ResponseRecorder,
	name string) (operation string) {
	t.Helper()
	hint := w.Header().Get("Graphql-Request")
	both := fmt.Sprintf("%s\n%s %s %s %q\nreturns %d %.3000s\n\nand the header is %s", name, q.method, q.target, q.body, q.headers,
		w.Code, w.Body, hint)
	if hint == "" {
		require.GreaterOrEqual(t, w.Code, 400, "a success must have the header\n%s", both)
		require.Empty(t, w.Header().Get("Preference-Applied"))
		return ""
	}
	operation = operationName.FindStringSubmatch(hint)[1]
	require.Equal(t, "graphql", w.Header().Get("Preference-Applied"))
	require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, w.Code,
		"a client without access must not get the header\n%s", both)
	if input, ok := q.variables["input"].(map[string]any); ok && input["password"] != nil {
		hint = strings.Replace(hint, "<PASSWORD>", fmt.Sprint(input["password"]), 1)
	}
	graphqlReq := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", strings.NewReader(hint))
	if q.writes() {
		graphqlReq.Header.Set("Idempotency-Key", r.Header.Get("Idempotency-Key"))
	}
	v := q.ask(s, graphqlReq)
	both += fmt.Sprintf("\nreturns %.3000s", v.Body)
	var graphql struct {
		Data   map[string]any
		Errors []struct {
			Extensions struct{ Code store.Code }
		}
	}
	decode(t, v.Body.Bytes(), &graphql, both)
	codes := q.errorCodesIn(graphql.Data)
	if len(graphql.Errors) > 0 {
		codes = []store.Code{graphql.Errors[0].Extensions.Code}
	}
	if len(codes) > 0 {
		if exceedsCost(t, q, w.Code, v.Body.String(), both) {
			return operation
		}
		require.Equal(t, statusOf(codes[0]), w.Code, "%s", both)
		return operation
	}
	require.Less(t, w.Code, 300, "%s", both)
	var answer map[string]any
	if w.Code != http.StatusNoContent {
		decode(t, w.Body.Bytes(), &answer, both)
	}
	require.NotPanics(t, func() {
		if q.writes() {
			require.Equal(t, "true", v.Header().Get("Idempotent-Replay"), "%s", both)
			sameWrite(failureReporter{t, both}, q, answer, graphql.Data)
		} else {
			q.same(failureReporter{t, both}, answer, graphql.Data)
		}
	}, "%s", both)
	return operation
}

// sameWrite compares the two responses to one write.
func sameWrite(t require.TestingT, q *parityCase, rest, data map[string]any) {
	for mutation, answer := range data {
		payload := answer.(map[string]any)
		object := func(name string) map[string]any { return payload[name].(map[string]any) }
		switch mutation {
		case "stockCreate":
			require.Equal(t, wireStockAs(q.headers)(object("stock")), rest["data"])
		case "stockTransact":
			require.Equal(t, wireTransactionAs(q.headers)(payload["transactions"].([]any)[0].(map[string]any)), rest["data"])
		case "promotionCreate":
			require.Equal(t, wirePromotion(object("promotion")), rest["data"])
		case "promotionUpdate":
			require.Equal(t, wirePromotion(updatedPromotion(payload)), rest["data"])
			require.Equal(t, payload["codesDeleted"], rest["meta"].(map[string]any)["codes_deleted"])
		case "promotionCodesCreate":
			want := wirePromotion(object("promotion")).(map[string]any)
			want["codes"] = mapList(payload["codes"], wireCode)
			listUsers(rest["data"].(map[string]any)["codes"])
			require.Equal(t, want, rest["data"])
		case "promotionDelete", "promotionCodesDelete", "stockDelete":
			require.Nil(t, rest)
		case "gatewayUpdate":
			require.Equal(t, wireGateway(object("gateway")), rest["data"])
		case "settingsUpdate":
			require.Equal(t, wireSettings(object("settings")), rest["data"])
		case "shopperTokenCreate":
			require.Equal(t, payload["token"], rest["data"].(map[string]any)["token"])
			require.Equal(t, payload["scopes"], rest["data"].(map[string]any)["scopes"])
		default:
			require.Fail(t, "no way to compare "+mutation)
		}
	}
}
