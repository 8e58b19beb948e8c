package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// newClient creates a client with portico client create, with all scopes by default, and the database if there is none.
func newClient(t *testing.T, flags []string, args ...string) (id, secret string) {
	t.Helper()
	var made struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if len(args) == 0 {
		args = []string{"--all-scopes"}
	}
	mustRun(t, append([]string{"migrate"}, flags...)...)
	answer := mustRun(t, append(append([]string{"client", "create", "--name", "till", "--json"}, args...), flags...)...)
	require.NoError(t, json.Unmarshal([]byte(answer), &made))
	return made.ID, made.Secret
}

// login requests a token with a secret, and returns the status.
func (s *serverProcess) login(t *testing.T, id, secret string, headers ...string) (status int, token string) {
	t.Helper()
	response, body := s.send(t, "POST", "/oauth/access_token",
		url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}.Encode(), headers...)
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer), body)
	return response.StatusCode, answer.AccessToken
}

// reads returns the status of a REST request with a token.
func (s *serverProcess) reads(t *testing.T, token string) int {
	t.Helper()
	response, _ := s.send(t, "GET", "/v2/inventories", "", "Authorization", "Bearer "+token)
	return response.StatusCode
}

// graphql sends a GraphQL query with a token.
func (s *serverProcess) graphql(t *testing.T, token, query string) (*http.Response, string) {
	t.Helper()
	text, err := json.Marshal(map[string]string{"query": query})
	require.NoError(t, err)
	headers := []string{"Content-Type", "application/json"}
	if token != "" {
		headers = append(headers, "Authorization", "Bearer "+token)
	}
	return s.send(t, "POST", "/graphql", string(text), headers...)
}

func TestClientCommands(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	with := func(args ...string) []string { return append(args, flags...) }
	id, secret := newClient(t, flags, "--scope", "tokens:write,inventory:read")
	newClient(t, flags)
	first, second := startServer(t, flags...), startServer(t, flags...)
	status, token := first.login(t, id, secret)
	require.Equal(t, 200, status)
	response, body := first.send(t, "POST", "/v2/shopper-tokens", `{"data":{"customer_id":"bob"}}`, "Authorization", "Bearer "+token)
	require.Equal(t, 201, response.StatusCode, body)
	require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
	var minted struct{ Data struct{ Token string } }
	require.NoError(t, json.Unmarshal([]byte(body), &minted))
	for _, good := range []string{token, minted.Data.Token} {
		require.Equal(t, 200, first.reads(t, good))
		require.Equal(t, 200, second.reads(t, good))
	}
	require.Equal(t, 403, func() int {
		response, _ := first.send(t, "POST", "/v2/shopper-tokens", `{}`, "Authorization", "Bearer "+minted.Data.Token)
		return response.StatusCode
	}(), "a shopper mints nothing")

	rotated := mustRun(t, with("client", "rotate", id)...)
	require.Regexp(t, `The old secret is valid until \S+Z\.`, rotated)
	fresh := regexp.MustCompile(`client_secret +(\S+)`).FindStringSubmatch(rotated)[1]
	for _, known := range []string{secret, fresh} {
		status, _ = second.login(t, id, known)
		require.Equal(t, 200, status, "both secrets during the grace period")
	}
	code, answer, stderr := portico(t, with("client", "rotate", id, "--grace", "0s", "--json")...)
	require.Zero(t, code, stderr)
	require.NotContains(t, answer, "old_secret_until")
	status, _ = second.login(t, id, fresh)
	require.Equal(t, 401, status, "without a grace period, the old secret ends at once")
	var latest struct {
		Secret string `json:"client_secret"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &latest))
	status, _ = second.login(t, id, latest.Secret)
	require.Equal(t, 200, status)

	require.Regexp(t, `^revoked `+id+` \(till\) at \S+Z; servers reject its tokens within a second\n$`,
		mustRun(t, with("client", "revoke", id)...))
	for _, s := range []*serverProcess{first, second} {
		status, _ = s.login(t, id, latest.Secret)
		require.Equal(t, 401, status, "no new tokens, at once")
		for _, ended := range []string{token, minted.Data.Token} {
			testkit.Eventually(t, true, func() bool { return s.reads(t, ended) == 401 })
		}
		_, body := s.graphql(t, token, `{ stocks { totalCount } }`)
		require.Contains(t, body, "was revoked")
	}

	var lines []map[string]any
	require.NoError(t, json.Unmarshal([]byte(mustRun(t, with("client", "list", "--json")...)), &lines))
	require.Len(t, lines, 2)
	require.Equal(t, id, lines[0]["id"])
	require.Equal(t, []any{"inventory:read", "tokens:write"}, lines[0]["scopes"])
	require.Equal(t, "command:client-revoke", lines[0]["changed_by"])
	require.NotNil(t, lines[0]["revoked_at"])
	require.NotNil(t, lines[0]["rotated_at"])
	require.Nil(t, lines[0]["old_secret_until"])
	require.Nil(t, lines[1]["revoked_at"])
	text := mustRun(t, with("client", "list")...)
	require.Regexp(t, `^ID +NAME +CREATED +ROTATED +OLD SECRET UNTIL +REVOKED +SCOPES\n`, text)
	require.Regexp(t, id+` +till +\S+Z +\S+Z +- +\S+Z +inventory:read tokens:write\n`, text)
	require.Regexp(t, ` +till +\S+Z +- +- +- +all\n$`, text)
	for _, known := range []string{secret, fresh, latest.Secret} {
		require.NotContains(t, text, known)
	}

	code, _, stderr = portico(t, with("client", "rotate", id)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "was revoked at")
	for _, command := range []string{"rotate", "revoke"} {
		code, stdout, stderr := portico(t, with("client", command, "nobody")...)
		require.Equal(t, 1, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, `There is no API client "nobody".`)
	}
	require.FileExists(t, path)
}

func TestKeysCommands(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	with := func(args ...string) []string { return append(args, flags...) }
	id, secret := newClient(t, flags)
	s := startServer(t, flags...)
	_, before := s.login(t, id, secret)
	keys := func() (list []string) {
		_, body := s.send(t, "GET", "/.well-known/jwks.json", "")
		var set struct{ Keys []struct{ Kid string } }
		require.NoError(t, json.Unmarshal([]byte(body), &set))
		for _, key := range set.Keys {
			list = append(list, key.Kid)
		}
		return list
	}
	require.Len(t, keys(), 1)
	require.Regexp(t, `^created key \S+, which signs in 5s\n$`, mustRun(t, with("keys", "rotate")...))
	require.Regexp(t, `(?s)^ID +STATE.*published .* signs `, mustRun(t, with("keys", "list")...))
	require.Regexp(t, `^created key \S+, which signs now\n$`, mustRun(t, with("keys", "rotate", "--delay", "0s")...))
	testkit.Eventually(t, true, func() bool { return len(keys()) == 3 }, "the server publishes them without a restart")
	require.Equal(t, 200, s.reads(t, before), "tokens of the old key are still valid")

	var lines []map[string]any
	require.NoError(t, json.Unmarshal([]byte(mustRun(t, with("keys", "list", "--json")...)), &lines))
	require.Len(t, lines, 3)
	require.Equal(t, "signs", lines[0]["state"])
	require.Equal(t, "command:keys-rotate", lines[0]["made_by"])
	require.Nil(t, lines[0]["kept_until"])
	require.NotNil(t, lines[2]["kept_until"])
	require.Equal(t, keys()[0], lines[0]["id"])

	require.Contains(t, mustRun(t, with("keys", "rotate", "--end-tokens")...), "tokens issued so far are no longer valid")
	testkit.Eventually(t, true, func() bool { return s.reads(t, before) == 401 })
	_, after := s.login(t, id, secret)
	require.Equal(t, 200, s.reads(t, after))
	require.Len(t, keys(), 1)

	// Servers could not read keys sealed with another sealing key.
	code, _, stderr := portico(t, with("keys", "rotate", "--key-file", filepath.Join(filepath.Dir(path), "other.key"))...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "or set PORTICO_SEAL_KEY or --key-file")
	require.Len(t, keys(), 1)
}

// TestUnreachableOIDCIssuer requires that the server starts and accepts its own tokens.
func TestUnreachableOIDCIssuer(t *testing.T) {
	t.Parallel()
	const away = "http://127.0.0.1:1"
	flags, _ := database(t)
	id, secret := newClient(t, flags)
	s := startServer(t, append(flags, "--oidc-issuer", away, "--oidc-audience", "shop")...)
	_, token := s.login(t, id, secret)
	require.Equal(t, 200, s.reads(t, token))
	foreign := "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwOi8vMTI3LjAuMC4xOjEifQ.AAAA" // {"iss":"http://127.0.0.1:1"}
	response, body := s.send(t, "GET", "/v2/inventories", "", "Authorization", "Bearer "+foreign)
	require.Equal(t, 503, response.StatusCode, body)
	require.NotEmpty(t, response.Header.Get("Retry-After"))
	require.Contains(t, body, "The issuer "+away+" is not responding")
	_, body = s.graphql(t, foreign, `{ stocks { totalCount } }`)
	require.Contains(t, body, `"code":"UNAVAILABLE"`)
	response, _ = s.send(t, "GET", "/healthz", "", "Authorization", "Bearer "+foreign)
	require.Equal(t, 200, response.StatusCode)
	require.NotContains(t, strings.ToLower(body), "dial tcp")
}
