package e2e

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/internal/auth"
	"portico/store/access"
	"portico/store/storetest"
)

// operations returns a request for each coordinate of the scope table.
func operations(t *testing.T) map[string]func(url string) *http.Request {
	t.Helper()
	request := func(method, path, body string, headers ...string) func(url string) *http.Request {
		return func(url string) *http.Request {
			r, err := http.NewRequest(method, url+path, strings.NewReader(body))
			require.NoError(t, err)
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			return r
		}
	}
	documents := minimalDocuments(t)
	all := map[string]func(string) *http.Request{}
	for _, coordinate := range auth.Coordinates() {
		method, path, _ := strings.Cut(coordinate, " ")
		switch document, isField := documents[coordinate]; {
		case isField:
			body, err := json.Marshal(map[string]string{"query": document})
			require.NoError(t, err)
			all[coordinate] = request("POST", "/graphql", string(body), "Content-Type", "application/json")
		case method == "header":
			all[coordinate] = request("GET", "/catalog/products", "", path, "1")
		case strings.HasPrefix(path, "/"):
			path = strings.NewReplacer(":slug", "manual", ":id", "one", ":code", "A", ":transaction", "two").Replace(path)
			all[coordinate] = request(method, path, "{}")
		} // the others are nested fields and jobs, which parents select
	}
	for coordinate := range documents {
		require.Contains(t, all, coordinate, "not in the scope table")
	}
	return all
}

// minimalDocuments returns the shortest operation that selects each root field.
func minimalDocuments(t *testing.T) map[string]string {
	t.Helper()
	schema, err := os.ReadFile("schema.graphqls")
	require.NoError(t, err)
	parsed, err := gqlparser.LoadSchema(&ast.Source{Input: string(schema)})
	require.NoError(t, err)
	var value func(*ast.Type) string
	value = func(of *ast.Type) string {
		if of.Elem != nil {
			return "[" + value(of.Elem) + "]"
		}
		switch definition := parsed.Types[of.NamedType]; {
		case definition.Kind == ast.Enum:
			return definition.EnumValues[0].Name
		case definition.Kind == ast.InputObject:
			var members []string
			oneOf := definition.Directives.ForName("oneOf") != nil
			for i, field := range definition.Fields {
				if oneOf && i == 0 || field.Type.NonNull && field.DefaultValue == nil {
					members = append(members, field.Name+": "+value(field.Type))
				}
			}
			return "{" + strings.Join(members, ", ") + "}"
		case of.NamedType == "Int", of.NamedType == "Float":
			return "1"
		case of.NamedType == "Boolean":
			return "true"
		case of.NamedType == "JSONObject", of.NamedType == "JSON":
			return "{}"
		}
		return `"2024-01-01"` // a string, an unknown id, a time
	}
	documents := map[string]string{}
	for _, root := range []*ast.Definition{parsed.Query, parsed.Mutation} {
		for _, field := range root.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			var arguments []string
			for _, argument := range field.Arguments {
				if argument.Type.NonNull && argument.DefaultValue == nil {
					arguments = append(arguments, argument.Name+": "+value(argument.Type))
				}
			}
			document := field.Name
			if len(arguments) > 0 {
				document += "(" + strings.Join(arguments, ", ") + ")"
			}
			if definition := parsed.Types[field.Type.Name()]; definition.IsCompositeType() {
				document += " { __typename }"
			}
			documents[root.Name+"."+field.Name] = strings.ToLower(root.Name) + " { " + document + " }"
		}
	}
	return documents
}

// requestErrors sends a request with a token and returns the status, the error codes and the texts
// of the response.
func requestErrors(t *testing.T, r *http.Request, token string) (status int, codes []string, words string) {
	t.Helper()
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	var answer struct {
		Errors []struct {
			Extensions struct{ Code string }
		}
	}
	if r.URL.Path != "/graphql" {
		return response.StatusCode, nil, string(body)
	}
	require.NoError(t, json.Unmarshal(body, &answer), "%s", body)
	for _, e := range answer.Errors {
		codes = append(codes, e.Extensions.Code)
	}
	return response.StatusCode, codes, string(body)
}

// TestOperationsRequireTheirScope sends each operation of both APIs with each kind of token.
func TestOperationsRequireTheirScope(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		o := openFixture(t, e.URL(t))
		server := o.serve(t)
		keys, err := o.Access.SigningKeys(t.Context(), storetest.NewSealer(t, 'k'))
		require.NoError(t, err)
		client, _ := o.issue(t)
		token := func(scopes ...string) string { return o.tokenFor(t, client, scopes, time.Hour) }
		bad := badTokens(t, keys[0], client)
		bad["none"] = ""

		for coordinate, request := range operations(t) {
			t.Run(coordinate, func(t *testing.T) {
				needed, declared := auth.Scope(coordinate)
				require.True(t, declared)
				isGraphQL := !strings.Contains(coordinate, " ")
				refused := func(token string, status int, code, word string) {
					t.Helper()
					got, codes, body := requestErrors(t, request(server.url), token)
					if isGraphQL {
						require.Equal(t, []string{code}, slices.Compact(codes), body)
					} else {
						require.Equal(t, status, got, body)
					}
					require.Contains(t, body, word)
				}
				if needed == "" { // public: a bad token is ignored
					for kind, token := range bad {
						status, _, body := requestErrors(t, request(server.url), token)
						require.NotContains(t, []int{401, 403, 500}, status, "%s: %s", kind, body)
					}
					return
				}
				for kind, token := range bad {
					t.Run(kind+" token", func(t *testing.T) { refused(token, 401, "UNAUTHENTICATED", "") })
				}
				if needed == auth.AnyScope {
					status, codes, body := requestErrors(t, request(server.url), token())
					require.Equal(t, 200, status, body)
					require.Empty(t, codes, body)
					return
				}
				others := slices.DeleteFunc(access.Scopes(), func(scope string) bool { return scope == needed })
				if method, _, _ := strings.Cut(coordinate, " "); method == "header" {
					needed = "catalog:read " + needed // scope of the requested route
				}
				refused(token(others...), 403, "FORBIDDEN", "needs the scope ")
				refused(token(), 403, "FORBIDDEN", "no scope at all")
				status, codes, body := requestErrors(t, request(server.url), token(strings.Fields(needed)...))
				require.NotContains(t, []int{401, 403, 500}, status, body)
				for _, code := range []string{"UNAUTHENTICATED", "FORBIDDEN", "INTERNAL"} {
					require.NotContains(t, codes, code, body)
				}
			})
		}
	})
}

// badTokens returns well-formed tokens that must be rejected.
func badTokens(t *testing.T, key *access.SigningKey, client string) map[string]string {
	t.Helper()
	said := func(changes map[string]any) []byte {
		claims := map[string]any{"iss": "portico", "aud": "portico", "sub": client, "iat": time.Now().Unix(),
			"exp": time.Now().Add(time.Hour).Unix(),
			"jti": "1", "scope": strings.Join(access.Scopes(), " "), "grant": "client_credentials"}
		for name, value := range changes {
			claims[name] = value
		}
		text, err := json.Marshal(claims)
		require.NoError(t, err)
		return text
	}
	sign := func(algorithm jose.SignatureAlgorithm, with any, kid string, claims []byte) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: jose.JSONWebKey{Key: with, KeyID: kid}}, nil)
		require.NoError(t, err)
		signed, err := signer.Sign(claims)
		require.NoError(t, err)
		text, err := signed.CompactSerialize()
		require.NoError(t, err)
		return text
	}
	_, other, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	return map[string]string{
		"a malformed":                    "abc.def",
		"an expired":                     sign(jose.EdDSA, key.Private, key.ID, said(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()})),
		"an unsigned":                    encode(fmt.Appendf(nil, `{"alg":"none","kid":%q}`, key.ID)) + "." + encode(said(nil)) + ".",
		"a wrongly signed":               sign(jose.EdDSA, other, key.ID, said(nil)),
		"a token of an unknown key's":    sign(jose.EdDSA, other, "unknown", said(nil)),
		"one signed with what is public": sign(jose.HS256, []byte(key.Public), key.ID, said(nil)),
		"another audience's":             sign(jose.EdDSA, key.Private, key.ID, said(map[string]any{"aud": "elsewhere"})),
		"another issuer's":               sign(jose.EdDSA, key.Private, key.ID, said(map[string]any{"iss": "elsewhere"})),
		"a future":                       sign(jose.EdDSA, key.Private, key.ID, said(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()})),
	}
}
