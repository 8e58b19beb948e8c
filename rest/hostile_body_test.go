package rest_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/web/problem"
	"portico/rest"
	"portico/store/seal"
	"portico/store/storetest"
)

// hostileBodies are bodies of 64 kB that are expensive for JSON parsers.
func hostileBodies() map[string]string {
	const size = 64 << 10
	fill := func(before, text, after string) string {
		return before + strings.Repeat(text, (size-len(before)-len(after))/len(text)) + after
	}
	nested := func(before, open, end, after string) string {
		n := (size - len(before) - len(after)) / (len(open) + len(end))
		return before + strings.Repeat(open, n) + strings.Repeat(end, n) + after
	}
	return map[string]string{
		"lists within lists":         nested(`{"data":`, `[`, `]`, `}`),
		"objects within objects":     nested(`{"data":{"x":`, `{"data":`, `}`, `}}`),
		"objects that never end":     fill(``, `{"data":`, ``),
		"lists that never end":       fill(``, `[`, ``),
		"one member again and again": fill(`{"data":{"type":"x"`, `,"name":"a"`, `}}`),
		"the data again and again":   fill(`{"data":{}`, `,"data":{"a":[]}`, `}`),
		"many objects":               fill(`{"data":[{}`, `,{}`, `]}`),
		"many codes":                 fill(`{"data":{"type":"promotion_codes","codes":[{}`, `,{}`, `]}}`),
		"many faults":                fill(`{"data":{"type":"promotion_codes","codes":[{}`, `,{"code":5}`, `]}}`),
		"many transactions":          fill(`{"data":[{"type":"stock-transaction"}`, `,{"action":"x","quantity":"y"}`, `]}`),
		"deep conditions":            nested(`{"data":{"type":"promotion","schema":{"conditions":`, `[`, `]`, `}}}`),
		"numbers":                    fill(`{"data":{"quantity":`, `9`, `}}`),
		"an exponent":                `{"data":{"quantity":1e` + strings.Repeat("9", size-100) + `}}`,
		"escapes":                    fill(`{"data":{"name":"`, `\u0001`, `"}}`),
		"a long name":                fill(`{"`, `x`, `":1}`),
		"a form":                     fill(`grant_type=client_credentials`, `&x=1`, ``),
		"a form of one name":         fill(`grant_type=`, `%61`, ``),
	}
}

// TestHostileBodiesCostLittle requires that a body of 64 kB is cheap to reject, with a documented
// error. It measures allocated bytes, so it is not parallel.
func TestHostileBodiesCostLittle(t *testing.T) {
	storetest.EachBackendSerial(t, func(t *testing.T, e storetest.Backend) {
		s := e.Open(t)
		sealer, err := seal.New([]byte(strings.Repeat("k", seal.KeySize)))
		require.NoError(t, err)
		tokens, err := auth.New(t.Context(), s.Access, sealer, auth.Options{})
		require.NoError(t, err)
		writeError := problem.Writer(slog.New(slog.DiscardHandler))
		api := rest.New(graph.NewResolver(s, graph.WithTokens(tokens)), writeError)
		mux := http.NewServeMux()
		mux.Handle("/", api.Handler())
		mux.Handle("/oauth/access_token", tokens.TokenHandler(writeError))
		anyone := &auth.Principal{ClientID: "shop front", Grant: "implicit", Scopes: []string{"catalog:read", "inventory:read"}}
		for _, route := range []string{
			"POST /v2/promotions", "PUT /v2/promotions/x", "POST /v2/promotions/x/codes", "DELETE /v2/promotions/x/codes",
			"PUT /v2/gateways/card_processor", "PUT /v2/settings", "POST /v2/inventories/x", "POST /v2/inventories/x/transactions",
			"POST /v2/inventories/multiple", "POST /oauth/access_token",
		} {
			method, path, _ := strings.Cut(route, " ")
			for name, body := range hostileBodies() {
				for who, principal := range map[string]*auth.Principal{"nobody": nil, "anyone": anyone, "an admin": admin()} {
					r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
					if principal != nil {
						r = r.WithContext(auth.WithPrincipal(r.Context(), principal))
					}
					r.Header.Set("Content-Type", "application/json")
					if strings.HasPrefix(name, "a form") {
						r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					}
					w := httptest.NewRecorder()
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					opctx.Middleware(mux).ServeHTTP(w, r)
					runtime.ReadMemStats(&after)
					what := fmt.Sprintf("%s with %s by %s: %d %.200s", route, name, who, w.Code, w.Body)
					require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), what)
					require.Less(t, w.Body.Len(), 64<<10, what)
					require.Less(t, w.Code, 500, what)
					require.True(t, json.Valid(w.Body.Bytes()), what)
				}
			}
		}
	})
}
