package rest_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/internal/web"
	"portico/internal/web/problem"
	"portico/rest"
	"portico/rest/resttest"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// otherOperations are documented operations that other packages serve. They follow the routes in
// openapi.yaml.
var otherOperations = []string{"POST /oauth/access_token", "GET /.well-known/jwks.json", "GET /healthz", "GET /readyz"}

// TestRestPageHasEveryRoute checks the table of docs/rest.md. In a row, … repeats the first path.
func TestRestPageHasEveryRoute(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/rest.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(text), "\n## Routes\n")
	table, _, _ = strings.Cut(table, "\n## ")
	shown := map[string]bool{}
	for row := range strings.Lines(table) {
		methods, first := "", ""
		cell, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimPrefix(row, "| "), "|", "\x00"), "` \x00")
		for i, quoted := range strings.Split(cell, "`") {
			if i%2 == 0 {
				continue
			}
			if method, path, told := strings.Cut(quoted, " "); told {
				methods, quoted = method, path
			}
			end, goesOn := strings.CutPrefix(quoted, "…")
			if !goesOn {
				first = quoted
			}
			for _, coordinate := range rest.Routes {
				method, path, _ := strings.Cut(coordinate, " ")
				if slices.Contains(strings.Split(methods, "\x00"), method) &&
					(path == quoted || goesOn && strings.HasSuffix(path, end) && strings.HasPrefix(path, first[:strings.LastIndex(first, "/")])) {
					shown[coordinate] = true
				}
			}
		}
	}
	for _, coordinate := range rest.Routes {
		require.True(t, shown[coordinate], "the table of docs/rest.md has no %s", coordinate)
	}
}

// operationsInOrder returns the operations of openapi.yaml and their routes, in order.
func operationsInOrder(c *resttest.Contract) (coordinates []string, operations map[string]*openapi3.Operation) {
	operations = map[string]*openapi3.Operation{}
	address := ""
	for line := range strings.Lines(string(rest.OpenAPIText)) {
		text := strings.TrimSuffix(strings.TrimSpace(line), ":")
		switch {
		case strings.HasPrefix(line, "  /"):
			address = text
		case strings.HasPrefix(line, "components:"):
			return coordinates, operations
		case strings.HasPrefix(line, "    ") && slices.Contains([]string{"get", "post", "put", "delete"}, text) && line[4] != ' ':
			coordinate := strings.ToUpper(text) + " " + strings.NewReplacer("{", ":", "}", "").Replace(address)
			coordinates = append(coordinates, coordinate)
			operations[coordinate] = c.Document.Paths.Value(address).GetOperation(strings.ToUpper(text))
		}
	}
	return coordinates, operations
}

func TestOpenAPIHasEveryRouteInOrder(t *testing.T) {
	t.Parallel()
	c, err := resttest.LoadContract()
	require.NoError(t, err)
	coordinates, operations := operationsInOrder(c)
	var paths []string // openapi.yaml groups methods by path
	for _, coordinate := range slices.Concat(rest.Routes, otherOperations) {
		_, address, _ := strings.Cut(coordinate, " ")
		if !slices.Contains(paths, address) {
			paths = append(paths, address)
		}
	}
	want := slices.Concat(rest.Routes, otherOperations)
	slices.SortStableFunc(want, func(a, b string) int {
		_, of, _ := strings.Cut(a, " ")
		_, with, _ := strings.Cut(b, " ")
		return slices.Index(paths, of) - slices.Index(paths, with)
	})
	require.Equal(t, want, coordinates)
	for coordinate, operation := range operations {
		require.NotEmpty(t, operation.Summary, coordinate)
		require.NotEmpty(t, operation.Description, coordinate)
		require.Len(t, operation.Tags, 1, coordinate)
		for status, answer := range operation.Responses.Map() {
			for _, content := range answer.Value.Content {
				require.NotNil(t, content.Schema, "%s %s", coordinate, status)
				require.NotNil(t, content.Example, "%s %s has an example", coordinate, status)
			}
		}
	}
}

func TestOpenAPIHasEveryScope(t *testing.T) {
	t.Parallel()
	c, err := resttest.LoadContract()
	require.NoError(t, err)
	_, operations := operationsInOrder(c)
	for coordinate, operation := range operations {
		scope, declared := auth.Scope(coordinate)
		require.True(t, declared, coordinate)
		want := openapi3.SecurityRequirements{}
		if scope == auth.AnyScope {
			want = openapi3.SecurityRequirements{{"bearer": {}}}
			require.Contains(t, strings.Join(strings.Fields(operation.Description), " "), "Needs a token, whatever its scopes.", coordinate)
		} else if scope != "" {
			want = openapi3.SecurityRequirements{{"bearer": {scope}}}
			require.Contains(t, strings.Join(strings.Fields(operation.Description), " "), "Needs the scope `"+scope+"`.", coordinate)
		}
		require.NotNil(t, operation.Security, coordinate)
		require.Equal(t, want, *operation.Security, coordinate)
	}
}

// TestOpenAPIShowsGraphQLOperations requires the operations and fragments that Prefer: graphql
// returns.
func TestOpenAPIShowsGraphQLOperations(t *testing.T) {
	t.Parallel()
	c, err := resttest.LoadContract()
	require.NoError(t, err)
	_, operations := operationsInOrder(c)
	blocks := func(text string) (inside []string) {
		for i, part := range strings.Split(text, "```") {
			if i%2 == 1 {
				inside = append(inside, strings.TrimSpace(strings.TrimPrefix(part, "graphql\n")))
			}
		}
		return inside
	}
	shown := blocks(c.Document.Info.Description)
	require.Len(t, shown, 1, "one block of fragments")
	for _, fragment := range strings.Split(shown[0], "\n\n") {
		require.Contains(t, rest.OperationsText, "\n"+fragment+"\n")
	}
	require.Equal(t, strings.Count(rest.OperationsText, "\nfragment "), strings.Count("\n"+shown[0], "\nfragment "))
	for coordinate, operation := range operations {
		name := rest.OperationOf(coordinate)
		shown := blocks(operation.Description)
		if name == "" {
			require.Contains(t, otherOperations, coordinate)
			require.Empty(t, shown)
			continue
		}
		require.Equal(t, name, operation.OperationID)
		require.Equal(t, name, operation.Extensions["x-graphql"])
		require.Len(t, shown, 1, coordinate)
		require.Contains(t, rest.OperationsText, "\n"+shown[0]+"\n", coordinate)
		require.Contains(t, shown[0], " "+name)
		require.Contains(t, rest.Operations(), name)
	}
}

// unspecified are members whose content openapi.yaml does not define, optionalMembers those that a
// response may leave out.
var (
	unspecified     = regexp.MustCompile(`\.(shopper_attributes|custom_inputs|extensions|selected_options|variation_matrix|schema|conditions)\.|\.meta\.component_products\.|\.(conditions|user)$`) // and what is of several types
	optionalMembers = regexp.MustCompile(`\.(curated_product|dimensions|included)$|\.currencies\.\d+\.(amount|percentage)$` +
		// by name, or absent
		`|\.attributes\.(components|base_product_id)$|\.(price|original_price|tiers|bread_crumbs|components|currencies|price_modifiers)\.[^.]+$`) // maps by key
)

// mutations yields copies of a response that differ from it in one place, with a description.
func mutations(at string, value any, yield func(name string, mutated any)) {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			less := maps.Clone(value)
			delete(less, name)
			yield("without "+at+"."+name, less)
			mutations(at+"."+name, member, func(what string, mutated any) {
				other := maps.Clone(value)
				other[name] = mutated
				yield(what, other)
			})
		}
		more := maps.Clone(value)
		more["surplus"] = []any{true}
		yield("with "+at+".surplus", more)
	case []any:
		yield("other "+at, "a text")
		for i, item := range value {
			mutations(fmt.Sprintf("%s.%d", at, i), item, func(what string, mutated any) {
				other := slices.Clone(value)
				other[i] = mutated
				yield(what, other)
			})
		}
	default:
		yield("other "+at, map[string]any{"another": "type"})
	}
}

// TestOpenAPIRejectsOtherResponses requires that validation rejects a missing or additional member,
// another type and another status.
func TestOpenAPIRejectsOtherResponses(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, rejectOtherResponses)
}

func rejectOtherResponses(t *testing.T, e storetest.Backend) {
	s := openShop(t, e, offers(), withClock(testkit.NewClock(noon)))
	redeemCode(t, s)
	c, err := resttest.LoadContract()
	require.NoError(t, err)
	located := []string{"EP-Inventories-Multi-Location", "true"}
	tried := 0
	for _, q := range []struct {
		method, path, body string
		headers            []string
	}{
		{"GET", "/catalog", "", nil},
		{"GET", "/catalog/hierarchies", "", nil},
		{"GET", "/catalog/hierarchies/workshop", "", nil},
		{"GET", "/catalog/nodes", "", nil},
		{"GET", "/catalog/nodes/hand-tools", "", nil},
		{"GET", productsOf("tools") + "?include=" + allIncludes, "", nil},
		{"GET", "/catalog/products/easel?include=" + allIncludes, "", nil},
		{"GET", "/catalog/products/kit/relationships/component_products", "", nil},
		{"POST", "/catalog/products/kit/configure?include=" + allIncludes, `{"data":{"selected_options":{"wood":{"frame":1}}}}`, nil},
		{"GET", "/v2/files", "", nil},
		{"GET", "/v2/files/photo-1", "", nil},
		{"GET", "/v2/currencies", "", nil},
		{"GET", "/v2/currencies/EUR", "", nil},
		{"GET", "/v2/inventories/locations", "", nil},
		{"GET", "/v2/inventories", "", nil},
		{"GET", "/v2/inventories", "", located},
		{"GET", "/v2/inventories/anvil/transactions", "", nil},
		{"GET", "/v2/inventories/anvil/transactions", "", located},
		{"POST", "/v2/inventories/glue", `{"data":{"quantity":10}}`, nil},
		{"GET", "/v2/promotions", "", nil},
		{"PUT", "/v2/promotions/spring", `{"data":{"name":"Spring"}}`, nil},
		{"POST", "/v2/promotions/spring/codes", `{"data":{"codes":[{"code":"ANOTHER","user":["u1","u2"]}]}}`, nil},
		{"GET", "/v2/promotions/spring/codes", "", nil},
		{"GET", "/v2/promotions/spring/usages?page[limit]=2", "", nil},
		{"GET", "/v2/gateways", "", nil},
		{"GET", "/v2/settings", "", nil},
		{"POST", "/v2/shopper-tokens", `{"data":{"customer_id":"bob"}}`, nil},
		{"GET", "/catalog/nodes/nowhere", "", nil},
		{"GET", "/v2/inventories/nobody", "", nil},
	} {
		w := s.send(t, q.method, q.path, q.body, q.headers...)
		r := httptest.NewRequestWithContext(t.Context(), q.method, q.path, nil)
		require.NoError(t, c.Check(r, []byte(q.body), w.Code, w.Header(), w.Body.Bytes()))
		require.ErrorContains(t, c.Check(r, []byte(q.body), http.StatusTeapot, w.Header(), w.Body.Bytes()), "status", "%s", q.path)
		if w.Code < 300 {
			none := w.Header().Clone()
			none.Set("Content-Type", "text/html")
			require.Error(t, c.Check(r, []byte(q.body), w.Code, none, w.Body.Bytes()), "%s as HTML", q.path)
		}
		var answer any
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		mutations("", answer, func(what string, mutated any) {
			kind, member, _ := strings.Cut(what, " ")
			if unspecified.MatchString(member) || kind == "without" && optionalMembers.MatchString(member) {
				return
			}
			text, err := json.Marshal(mutated)
			require.NoError(t, err)
			tried++
			if c.Check(r, []byte(q.body), w.Code, w.Header(), text) == nil {
				t.Errorf("%s %s %q: a response %s passes", q.method, q.path, q.headers, what)
			}
		})
	}
	require.Greater(t, tried, 1_000)
	t.Logf("%d invalid responses were rejected", tried)
}

// TestTokenAndHealthRoutes sends requests to the operations of other packages. The test server
// validates them against openapi.yaml.
func TestTokenAndHealthRoutes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		client, secret, err := s.store.Access.CreateClient(t.Context(), "test", "till", []string{"catalog:read"})
		require.NoError(t, err)
		const tokens = "/oauth/access_token"
		for _, q := range []struct {
			method, path, body string
			status             int
		}{
			{"POST", tokens, "grant_type=client_credentials&client_id=" + client.ID + "&client_secret=" + secret, 200},
			{"POST", tokens, `{"grant_type":"implicit","client_id":"` + client.ID + `"}`, 200},
			{"POST", tokens, "grant_type=implicit&scope=catalog:read+inventory:read&client_id=" + client.ID, 200},
			{"POST", tokens, "grant_type=implicit&scope=catalog:all&client_id=" + client.ID, 400},
			{"POST", tokens, "grant_type=implicit&scope=inventory:read&client_id=" + client.ID, 400},
			{"POST", tokens, "grant_type=implicit&client_id=nobody", 401},
			{"POST", tokens, "grant_type=password", 400},
			{"POST", tokens, strings.Repeat("x", 20_000), 413},
			{"GET", tokens, "", 405},
			{"GET", "/.well-known/jwks.json", "", 200},
			{"GET", web.HealthPath, "", 200},
			{"GET", web.ReadyPath, "", 200},
		} {
			require.Equal(t, q.status, s.send(t, q.method, q.path, q.body).Code, "%s %s", q.method, q.path)
		}
		require.NoError(t, s.store.Close())
		require.Equal(t, 503, s.send(t, "GET", web.ReadyPath, "").Code)
	})
}

func TestGraphQLHintHasNoSecret(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, hintHasNoSecret)
}

func hintHasNoSecret(t *testing.T, e storetest.Backend) {
	s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
	w := s.send(t, "PUT", "/v2/gateways/card_processor", `{"data":{"password":"hunter2-ü"}}`, "Prefer", "graphql")
	require.Equal(t, 200, w.Code, "%s", w.Body)
	for name, values := range w.Header() {
		require.NotContains(t, strings.Join(values, "\n"), "hunter2", name)
	}
	require.Contains(t, w.Header().Get("Graphql-Request"), `"variables":{"input":{"password":"<PASSWORD>","slug":"CARD_PROCESSOR"}}`)
}

// TestGraphQLHintHasTypedConditions requires that GraphQL accepts the hint for conditions, which are JSON in REST.
func TestGraphQLHintHasTypedConditions(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, hintHasTypedConditions)
}

func hintHasTypedConditions(t *testing.T, e storetest.Backend) {
	s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
	for sent, want := range map[string]string{
		`{"and":[{"template":"shoes","field":"size","type":"integer","value":42}]}`: `[{"field":"size","template":"shoes","type":"INTEGER","value":"42"}]`,
		`null`: `[]`,
	} {
		w := s.send(t, "PUT", "/v2/promotions/ten-off", `{"data":{"conditions":`+sent+`}}`, "Prefer", "graphql")
		require.Equal(t, 200, w.Code, "%s", w.Body)
		hint := w.Header().Get("Graphql-Request")
		require.Contains(t, hint, `"variables":{"input":{"dryRun":false,"id":"ten-off","itemConditions":`+want+`}}`)
		require.Contains(t, s.send(t, "POST", "/graphql", hint).Body.String(), `"userErrors":[]`)
	}
}

// TestGraphQLHintIsShort requires an ASCII header of limited length.
func TestGraphQLHintIsShort(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, hintIsShort)
}

func hintIsShort(t *testing.T, e storetest.Backend) {
	s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
	w := s.send(t, "GET", "/v2/promotions?filter=eq(name,%C3%A9%F0%9F%94%A8)", "", "Prefer", "respond-async, GraphQL; wait=1")
	require.Contains(t, w.Header().Get("Graphql-Request"), `{"in":["\u00e9\ud83d\udd28"]}`)
	ids := strings.TrimSuffix(strings.Repeat(`{"id":"`+strings.Repeat("x", 100)+`"},`, 90), ",")
	w = s.send(t, "POST", "/v2/inventories/multiple", `{"data":[`+ids+`]}`, "Prefer", "graphql")
	require.Equal(t, 200, w.Code, "%s", w.Body)
	require.Empty(t, w.Header().Get("Graphql-Request"), "the body is too long for a header")
	require.Empty(t, w.Header().Get("Preference-Applied"))
	w = s.send(t, "GET", "/catalog/nodes/tools", "", "Prefer", "explain, graphql")
	require.Equal(t, "explain, graphql", w.Header().Get("Preference-Applied"))
	require.NotEmpty(t, w.Header().Get("Store-Catalog-Resolution"))
}

func TestOpenAPIIsServed(t *testing.T) {
	t.Parallel()
	w := sendRequest(rest.OpenAPI(), http.MethodGet, rest.OpenAPIPath)
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "application/yaml", w.Header().Get("Content-Type"))
	require.Equal(t, rest.OpenAPIText, w.Body.Bytes())
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, rest.OpenAPIPath, nil)
	r.Header.Set("If-None-Match", w.Header().Get("ETag"))
	again := httptest.NewRecorder()
	rest.OpenAPI().ServeHTTP(again, r)
	require.Equal(t, http.StatusNotModified, again.Code)
}

func TestDocsLoadNothingExternal(t *testing.T) {
	t.Parallel()
	served := func(path string) string {
		w := sendRequest(rest.Docs(problem.Writer(slog.New(slog.DiscardHandler))), http.MethodGet, path)
		require.Equal(t, http.StatusOK, w.Code, path)
		require.NotZero(t, w.Body.Len(), path)
		return w.Body.String()
	}
	page := served(rest.DocsPath)
	parts := 0
	for _, named := range regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		switch path := named[1]; {
		case strings.HasPrefix(path, rest.DocsPath+"/"):
			served(path)
			parts++
		default:
			require.Contains(t, []string{"/", rest.OpenAPIPath, "data:,"}, path)
		}
	}
	require.GreaterOrEqual(t, parts, 3)
	script := served(rest.DocsPath + "/docs.js")
	require.Contains(t, script, `url: "`+rest.OpenAPIPath+`"`)
	require.Contains(t, script, "validatorUrl: null", "no request to an external validator")
}
