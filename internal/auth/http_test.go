package auth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
)

func TestMiddleware(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(t).AccessToken
	tests := []struct {
		name, header string
		want         string // error; empty for a principal
	}{
		{"as usual", "Bearer " + token, ""},
		{"lower case", "bearer " + token, ""},
		{"upper case", "BEARER " + token, ""},
		{"with a colon", "Bearer: " + token, ""},
		{"with a colon and no space", "Bearer:" + token, ""},
		{"with a colon after a space", "Bearer : " + token, ""},
		{"with spaces", "  Bearer \t  " + token + "  ", ""},
		{"no header", "", "Send the header Authorization"},
		{"only spaces", "  ", "Send the header Authorization"},
		{"no token", "Bearer", "must be Bearer <token>"},
		{"no token after a colon", "Bearer: ", "must be Bearer <token>"},
		{"no scheme", token, "must be Bearer <token>"},
		{"another scheme", "Basic YTpi", "must be Bearer <token>"},
		{"a scheme that begins alike", "Bearerx " + token, "must be Bearer <token>"},
		{"undefined", "Bearer undefined", "malformed"},
		{"two tokens", "Bearer " + token + " " + token, "malformed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			called := false
			handler := f.service.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				called = true
				require.NoError(t, auth.Require(r.Context(), "GET /healthz"), "what is public stays so")
				err := auth.Require(r.Context(), "Query.stocks")
				if test.want == "" {
					require.NoError(t, err)
					require.Equal(t, f.client.ID, auth.PrincipalFrom(r.Context()).ClientID)
					return
				}
				require.ErrorContains(t, err, test.want)
				require.True(t, store.HasCode(err, store.Unauthenticated))
				require.Nil(t, auth.PrincipalFrom(r.Context()))
			}))
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Authorization", test.header)
			handler.ServeHTTP(httptest.NewRecorder(), r)
			require.True(t, called)
		})
	}
}

const (
	form = "application/x-www-form-urlencoded"
	wire = "application/json"
)

// withClient inserts the fixture's credentials into a text.
func (f *fixture) withClient(text string) string {
	return strings.NewReplacer("CID", f.client.ID, "SECRET", f.secret).Replace(text)
}

func (f *fixture) askToken(contentType, body string, basic ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/oauth/access_token", strings.NewReader(f.withClient(body)))
	r.Header.Set("Content-Type", contentType)
	if len(basic) == 2 {
		r.SetBasicAuth(f.withClient(basic[0]), f.withClient(basic[1]))
	}
	w := httptest.NewRecorder()
	f.service.TokenHandler(writeError).ServeHTTP(w, r)
	return w
}

func TestTokenHandler(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const (
		credentials = "grant_type=client_credentials&client_id=CID&client_secret=SECRET"
		object      = `{"grant_type":"client_credentials","client_id":"CID","client_secret":"SECRET"}`
	)
	tests := []struct {
		name, contentType, body string
		basic                   []string
		identifier              string
	}{
		{"a form", form, credentials, nil, "client_credentials"},
		{"a form with a charset", form + "; charset=utf-8", credentials, nil, "client_credentials"},
		{"a form labelled as JSON", wire, credentials, nil, "client_credentials"},
		{"a form without a label", "", credentials, nil, "client_credentials"},
		{"a form with a line break", form, credentials + "\r\n", nil, "client_credentials"},
		{"JSON", wire, object, nil, "client_credentials"},
		{"JSON labelled as a form", form, object, nil, "client_credentials"},
		{"JSON with a byte order mark, spaces and other members", wire, "\ufeff \n" + strings.Replace(object, "{", `{"scope":null,`, 1), nil,
			"client_credentials"},
		{"Basic", form, "grant_type=client_credentials", []string{"CID", "SECRET"}, "client_credentials"},
		{"Basic with JSON", wire, `{"grant_type":"client_credentials"}`, []string{"CID", "SECRET"}, "client_credentials"},
		{"Basic with the id in the form too", form, "grant_type=client_credentials&client_id=CID", []string{"CID", "SECRET"},
			"client_credentials"},
		{"the body before Basic", form, credentials, []string{"other", "wrong"}, "client_credentials"},
		{"implicit", form, "grant_type=implicit&client_id=CID", nil, "implicit"},
		{"implicit in JSON", wire, `{"grant_type":"implicit","client_id":"CID"}`, nil, "implicit"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := f.askToken(test.contentType, test.body, test.basic...)
			require.Equal(t, http.StatusOK, w.Code, w.Body)
			require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
			require.Equal(t, "application/json", w.Header().Get("Content-Type"))
			var answer map[string]any
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
			principal, err := f.service.Verify(t.Context(), answer["access_token"].(string))
			require.NoError(t, err)
			require.Equal(t, test.identifier, principal.Grant)
			delete(answer, "access_token")
			require.Equal(t, map[string]any{
				"token_type": "Bearer", "expires_in": 3600.0, "expires": float64(start.Unix() + 3600), "identifier": test.identifier,
				"scope": strings.Join(principal.Scopes, " "),
			}, answer)
		})
	}
}

func TestTokenScopes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.client, f.secret = f.newClient(t, []string{"catalog:read", "catalog:write", "inventory:read", "checkout:write"})
	const (
		all      = "catalog:read catalog:write inventory:read checkout:write"
		unknown  = `scope must be one or more of catalog:read, catalog:write, inventory:read, inventory:write, promotions:read, promotions:write, checkout:write, gateways:read, gateways:write, settings:read, settings:write, tokens:write, audit:read, separated by spaces; got `
		notHeld  = `scope must name at least one scope that this grant allows the client: catalog:read, catalog:write, inventory:read, checkout:write; got `
		implicit = `scope must name at least one scope that this grant allows the client: catalog:read, inventory:read; got `
	)
	for _, test := range []struct {
		scope                 string
		credentials, implicit string // the token's scopes, or the error
	}{
		{"", all, "catalog:read inventory:read"},
		{" ", all, "catalog:read inventory:read"},
		{"catalog:read", "catalog:read", "catalog:read"},
		{"inventory:read  catalog:read inventory:read", "catalog:read inventory:read", "catalog:read inventory:read"},
		{"catalog:write", "catalog:write", implicit + `"catalog:write".`},
		{"catalog:write settings:read catalog:read", "catalog:read catalog:write", "catalog:read"},
		{"settings:read", notHeld + `"settings:read".`, implicit + `"settings:read".`},
		{"openid catalog:read", unknown + `"openid".`, unknown + `"openid".`},
		{"CATALOG:READ", unknown + `"CATALOG:READ".`, unknown + `"CATALOG:READ".`},
		{"catalog:read,catalog:write", unknown + `"catalog:read,catalog:write".`, unknown + `"catalog:read,catalog:write".`},
	} {
		for grant, want := range map[string]string{"client_credentials": test.credentials, "implicit": test.implicit} {
			for _, body := range []string{
				url.Values{"grant_type": {grant}, "client_id": {"CID"}, "client_secret": {"SECRET"}, "scope": {test.scope}}.Encode(),
				`{"grant_type":"` + grant + `","client_id":"CID","client_secret":"SECRET","scope":"` + test.scope + `"}`,
			} {
				w := f.askToken(form, body)
				if strings.HasPrefix(want, "scope ") {
					require.Equal(t, http.StatusBadRequest, w.Code, w.Body)
					require.Equal(t, want, detail(t, w))
					continue
				}
				require.Equal(t, http.StatusOK, w.Code, w.Body)
				var answer struct {
					Token string `json:"access_token"`
					Scope string
				}
				require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
				require.Equal(t, want, answer.Scope, test.scope)
				principal, err := f.service.Verify(t.Context(), answer.Token)
				require.NoError(t, err)
				require.Equal(t, strings.Fields(want), principal.Scopes)
			}
		}
	}
}

// TestTokenErrorCodes requires the error codes of RFC 6749.
func TestTokenErrorCodes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for body, want := range map[string]string{
		"grant_type=client_credentials&client_id=CID&client_secret=x": "invalid_client",
		"grant_type=implicit&client_id=x":                             "invalid_client",
		"grant_type=password":                                         "unsupported_grant_type",
		"grant_type=%zz":                                              "invalid_request",
		`{"grant_type":1}`:                                            "invalid_request",
		"grant_type=implicit&client_id=CID&scope=x":                   "invalid_scope",
		"grant_type=implicit&client_id=CID&scope=tokens:write":        "invalid_scope",
		strings.Repeat("x", 17<<10):                                   "",
	} {
		var code string
		handler := f.service.TokenHandler(func(_ http.ResponseWriter, _ *http.Request, err error) {
			if refused := new(auth.TokenError); errors.As(err, &refused) {
				code = refused.Code
			}
		})
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/oauth/access_token",
			strings.NewReader(f.withClient(body))))
		require.Equal(t, want, code, body)
	}
}

func TestTokenHandlerErrors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tests := []struct {
		name, body string
		basic      []string
		status     int
		want       string
	}{
		{"a wrong secret", "grant_type=client_credentials&client_id=CID&client_secret=x", nil, 401,
			"The client id or the client secret is wrong."},
		{"no secret", "grant_type=client_credentials&client_id=CID", nil, 401, "The client id or the client secret is wrong."},
		{"an unknown client", "grant_type=client_credentials&client_id=x&client_secret=SECRET", nil, 401,
			"The client id or the client secret is wrong."},
		{"a wrong secret by Basic", "grant_type=client_credentials", []string{"CID", "x"}, 401, "The client id or the client secret is wrong."},
		{"Basic of another client", "grant_type=client_credentials&client_id=x", []string{"CID", "SECRET"}, 401,
			"The client id or the client secret is wrong."},
		{"implicit without a client", "grant_type=implicit", nil, 401, "The client id is unknown."},
		{"an unknown grant", "grant_type=password&client_id=CID", nil, 400, `grant_type must be client_credentials or implicit, got "password"`},
		{"no grant", "client_id=CID&client_secret=SECRET", nil, 400, `grant_type must be client_credentials or implicit, got ""`},
		{"no body", "", nil, 400, "grant_type must be"},
		{"JSON that breaks off", `{"grant_type":"implicit"`, nil, 400, "is not JSON at line 1, column 25"},
		{"JSON of other types", `{"grant_type":1}`, nil, 400, "must be a JSON object"},
		{"a form with a bad escape", "grant_type=%zz", nil, 400, "must be a form or a JSON object"},
		{"a secret that is no text", "grant_type=client_credentials&client_id=CID&client_secret=%ff", nil, 400,
			"client_secret is not valid UTF-8"},
		{"a secret that is no text, as JSON", `{"grant_type":"client_credentials","client_id":"CID","client_secret":"\ud800"}`, nil, 400,
			"client_secret contains half of a surrogate pair"},
		{"a body too long", "grant_type=implicit&x=" + strings.Repeat("x", 16<<10), nil, 413, "larger than 16 KiB"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := f.askToken(form, test.body, test.basic...)
			require.Equal(t, test.status, w.Code, w.Body)
			require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
			require.Contains(t, detail(t, w), test.want)
			require.NotContains(t, w.Body.String(), f.secret)
		})
	}
}

// detail returns the text of an error response.
func detail(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var envelope struct {
		Errors []struct {
			Status        int
			Title, Detail string
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &envelope))
	require.Len(t, envelope.Errors, 1)
	require.Equal(t, w.Code, envelope.Errors[0].Status)
	return envelope.Errors[0].Detail
}

func TestHandlerMethods(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	tests := []struct {
		handler      http.Handler
		method, want string // Allow
	}{
		{f.service.TokenHandler(writeError), http.MethodGet, "POST, OPTIONS"},
		{f.service.TokenHandler(writeError), http.MethodHead, "POST, OPTIONS"},
		{f.service.TokenHandler(writeError), http.MethodPut, "POST, OPTIONS"},
		{f.service.JWKSHandler(writeError), http.MethodPost, "GET, HEAD, OPTIONS"},
	}
	for _, test := range tests {
		w := httptest.NewRecorder()
		test.handler.ServeHTTP(w, httptest.NewRequest(test.method, "/", nil))
		require.Equal(t, http.StatusMethodNotAllowed, w.Code)
		require.Equal(t, test.want, w.Header().Get("Allow"))
		require.Contains(t, detail(t, w), "Method "+test.method+" is not allowed here")
	}
}

func TestJWKSHandler(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := httptest.NewRecorder()
	f.service.JWKSHandler(writeError).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/.well-known/jwks.json", nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "application/json", w.Header().Get("Content-Type"))
	require.JSONEq(t, string(f.service.JWKS()), w.Body.String())
}
