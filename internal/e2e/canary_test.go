package e2e

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// Number of requests of the full tests. PostgreSQL needs fewer, to show that it behaves like SQLite.
const (
	canaryRequests         = 40_000
	canaryRequestsPostgres = 3_000
	canaryWorkers          = 4
)

// canary is a secret to search for in all output of a server, in each of its encodings.
type canary struct {
	secret string
	forms  map[string]string // texts to search for, by encoding
}

func newCanary() *canary {
	c := &canary{secret: fmt.Sprintf("Canary%016xYellow", rand.Uint64())}
	c.forms = map[string]string{
		"plain": c.secret, "reversed": reversed(c.secret), "lower": strings.ToLower(c.secret), "upper": strings.ToUpper(c.secret),
		"hex": hex.EncodeToString([]byte(c.secret)), "half": c.secret[6:18],
	}
	for shift := range 3 { // at each offset in base64
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + c.secret))
		c.forms[fmt.Sprint("base64, shifted by ", shift)] = text[4 : len(text)-4]
	}
	return c
}

func reversed(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[len(text)-1-i])
	}
	return b.String()
}

// found returns the encoding in which a text contains the secret; empty if it does not.
func (c *canary) found(text string) string {
	for form, looked := range c.forms {
		if strings.Contains(text, looked) {
			return form
		}
	}
	return ""
}

// canaryRequest is a request; kind is its Content-Type and idempotency its key.
type canaryRequest struct{ method, path, body, kind, idempotency string }

// draw returns a random request of any operation: valid, malformed, or with the secret in a member
// that responses do not show.
func (c *canary) draw(r *rand.Rand, operations []canaryRequest) canaryRequest {
	pick := func(values ...string) string { return values[r.IntN(len(values))] }
	var h canaryRequest
	switch r.IntN(4) {
	case 0, 1:
		h = operations[r.IntN(len(operations))]
	case 2: // REST
		h = canaryRequest{method: "PUT", path: "/v2/gateways/" + pick("card_processor", "card_processor", "manual", "none"),
			kind: "application/json"}
		h.body = strings.ReplaceAll(pick(
			`{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"SECRET","test":true}}`,
			`{"data":{"type":"gateway","name":"","slug":"","enabled":true,"password":"SECRET"}}`,
			`{"data":{"password":["SECRET"]}}`, `{"data":{"password":{"SECRET":"SECRET"}}}`, `{"data":{"enabled":"SECRET"}}`,
			`{"data":{"type":"SECRET","password":"SECRET"}}`, `{"data":{"slug":"SECRET"}}`, `{"data":["SECRET"]}`, `{"data":"SECRET"}`, `"SECRET"`,
			`SECRET`,
			`{"data":{"test":"SECRET","password":5}}`, `{"SECRET":{"password":"SECRET"}}`, `{"data":{"password":"SECRET","unknown":"SECRET"}}`,
			`{"data":{"password":"SECRET","merchant_id":""}}`, `{"data":{"password":"SECRET\u0000"}}`,
			`{"data":{"password":"`+strings.Repeat("SECRET", 60)+`"}}`,
			`password=SECRET`, `{"data":{"password":"SECRET"`), "SECRET", c.secret)
	default: // GraphQL
		h = canaryRequest{method: "POST", path: "/graphql", kind: "application/json"}
		query := pick(
			`mutation { gatewayUpdate(input: {slug: CARD_PROCESSOR, enabled: true, merchantId: "m", username: "u", password: "SECRET"}) { gateway { slug passwordSet fingerprint } userErrors { field message } } }`,
			`mutation { gatewayUpdate(input: {slug: CARD_PROCESSOR, password: ["SECRET"]}) { gateway { slug } } }`,
			`mutation { gatewayUpdate(input: {slug: CARD_PROCESSOR, password: {a: "SECRET"}}) { gateway { slug } } }`,
			`mutation { gatewayUpdate(input: {slug: CARD_PROCESSOR, password: SECRET}) { gateway { slug } } }`,
			`mutation { gatewayUpdate(input: {slug: CARD_PROCESSOR, enabled: "SECRET"}) { gateway { slug } } }`,
			`mutation { gatewayUpdate(input: {slug: CARD_PROCESSOR, unknown: "SECRET"}) { gateway { slug } } }`,
			`mutation { gatewayUpdate(input: {slug: CARD_PROCESSOR, enabled: SECRET}) { gateway { slug } } }`,
			`mutation { gatewayUpdate(input: {slug: "none", password: "SECRET"}) { gateway { slug } userErrors { field message } } }`,
			`mutation { gatewayUpdate(input: {slug: MANUAL, password: "SECRET"}) { gateway { slug } userErrors { field message } } }`,
			`mutation { gatewayUpdate(password: "SECRET") { gateway { slug } } }`,
			`mutation { gatewayUpdate(input: "SECRET") { gateway { slug } } }`,
			`mutation { gatewayUpdate(input: {slug: CARD_PROCESSOR, password: "SECRET) { gateway { slug } } }`,
			`mutation { gatewayUpdate(input: {slug: CARD_PROCESSOR, password: """SECRET"""}) { gateway { password } } }`,
			`mutation ($p: String = "SECRET") { gatewayUpdate(input: {slug: CARD_PROCESSOR, password: $p}) { gateway { slug } } }`,
			`mutation ($p: Boolean = "SECRET") { gatewayUpdate(input: {slug: CARD_PROCESSOR, enabled: $p}) { gateway { slug } } }`,
			`mutation ($i: GatewayUpdateInput!) { gatewayUpdate(input: $i) { gateway { slug } userErrors { message } } }`,
			`query ($i: GatewayUpdateInput!) { gateways { slug } }`)
		variables := pick(`{}`, `{"p": "SECRET"}`, `{"i": {"slug": "CARD_PROCESSOR", "password": "SECRET"}}`,
			`{"i": {"slug": "CARD_PROCESSOR", "enabled": "SECRET"}}`,
			`{"i": {"slug": "CARD_PROCESSOR", "unknown": "SECRET"}}`, `{"i": "SECRET"}`, `{"i": ["SECRET"]}`,
			`{"i": {"password": {"SECRET": 1}, "slug": "CARD_PROCESSOR"}}`, `"SECRET"`, `["SECRET"]`, `{"p": {"a": "SECRET"}}`)
		quoted, _ := json.Marshal(strings.ReplaceAll(query, "SECRET", c.secret))
		h.body = `{"query": ` + string(quoted) + `, "variables": ` + strings.ReplaceAll(variables, "SECRET", c.secret) + pick(`}`, `}`, ``)
		if r.IntN(12) == 0 {
			h = canaryRequest{method: "GET", path: "/graphql?query=" + url.QueryEscape(strings.ReplaceAll(query, "SECRET", c.secret))}
		}
	}
	if r.IntN(3) == 0 {
		if damaged := c.damage(r, h.body); !c.shown(damaged) {
			h.body = damaged
		}
	}
	if r.IntN(6) == 0 {
		h.kind = pick("", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16",
			"multipart/form-data; boundary="+"b")
	}
	if r.IntN(5) == 0 {
		h.idempotency = fmt.Sprint("key-", r.IntN(40))
	}
	return h
}

// displayed matches the public members of a gateway with the secret in them, and the secret as a name, which errors of GraphQL have.
var displayed = regexp.MustCompile(`(name|username|merchant_id|merchantId|login)[^:]*:[^:]{0,12}Canary|[a-zA-Z_{(,.@$][a-zA-Z_ ]*Canary`)

// shown reports whether a body has the secret in a public member.
func (c *canary) shown(body string) bool { return displayed.MatchString(body) }

// damage corrupts a body outside of the secret, since the search does not find parts of it.
func (c *canary) damage(r *rand.Rand, body string) string {
	before, after, has := strings.Cut(body, c.secret)
	for range 1 + r.IntN(3) {
		part := &before
		if has && r.IntN(2) == 0 {
			part = &after
		}
		if *part == "" {
			continue
		}
		at := r.IntN(len(*part))
		switch r.IntN(4) {
		case 0:
			*part = (*part)[:at]
		case 1:
			*part = (*part)[:at] + string(rune(r.IntN(0x250))) + (*part)[at+1:]
		case 2:
			*part = (*part)[:at] + (*part)[at+1:]
		default:
			*part = (*part)[:at] + `"` + (*part)[at:]
		}
	}
	if has {
		before += c.secret
	}
	return before + after
}

// TestSecretsDoNotLeak requires that the password of a gateway appears in no response, log or
// database file, except sealed.
func TestSecretsDoNotLeak(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestGateways of store/shop seals secrets and prints none")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		requests := testkit.QuickOrFull(400, canaryRequestsPostgres)
		if e.Name == "sqlite" {
			requests = testkit.QuickOrFull(3_000, canaryRequests)
		}
		flags := []string{"--database-url", e.URL(t), "--seal-key", keyOf('k'), "--synchronous", "OFF", "--log-level", "debug", "--admin-addr",
			"127.0.0.1:0",
			"--token-rate-client", "0", "--token-rate-address", "0", "--code-rate-client", "0", "--code-rate-address", "0"}
		imported := append([]string{"import", "internal/demo/shop.ndjson"}, flags[:2]...)
		mustRun(t, imported...)
		s := startServer(t, flags...)
		_, token := s.client(t, flags[:2]...)
		c := newCanary()
		response, answer := s.send(t, "PUT", "/v2/gateways/card_processor",
			`{"data":{"enabled":true,"merchant_id":"m","username":"u","password":"`+c.secret+`"}}`, "Authorization", "Bearer "+token)
		require.Equal(t, 200, response.StatusCode, answer)

		s.url = s.validated(t)

		var all []canaryRequest
		for _, request := range operations(t) {
			r := request("")
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			all = append(all, canaryRequest{method: r.Method, path: r.URL.RequestURI(), body: string(body), kind: r.Header.Get("Content-Type")})
		}
		var group sync.WaitGroup
		for worker := range canaryWorkers {
			group.Go(func() {
				r := rand.New(rand.NewPCG(uint64(worker), 1))
				for range requests / canaryWorkers {
					c.hunt(t, s, token, c.draw(r, all))
				}
			})
		}
		group.Wait()
		require.False(t, t.Failed())

		response, answer = s.send(t, "GET", "/v2/gateways/card_processor", "", "Authorization", "Bearer "+token)
		require.Equal(t, 200, response.StatusCode)
		require.Contains(t, answer, `"password":"********"`)
		requireAbsent := func(where, text string) {
			t.Helper()
			require.NotEmpty(t, text, where)
			require.Empty(t, c.found(text), "the secret is in %s", where)
		}
		metrics, err := http.Get(s.admin + "/metrics")
		require.NoError(t, err)
		defer metrics.Body.Close()
		told, err := io.ReadAll(metrics.Body)
		require.NoError(t, err)
		require.Contains(t, string(told), `route="/v2/gateways/{slug}"`, "metrics have routes")
		requireAbsent("the metrics", string(told))
		searchDatabase(t, e, requireAbsent) // including the WAL
		file := filepath.Join(t.TempDir(), "export.ndjson")
		mustRun(t, append([]string{"export", file}, flags[:2]...)...)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		requireAbsent("the export", string(text))
		require.Zero(t, s.stop())
		log, err := json.Marshal(s.log)
		require.NoError(t, err)
		requireAbsent("the log", string(log))
		require.Greater(t, len(s.log), requests/2, "the log is at debug level")
		searchDatabase(t, e, requireAbsent)
	})
}

// hunt sends a request and searches the response for the secret.
func (c *canary) hunt(t *testing.T, s *serverProcess, token string, h canaryRequest) {
	request, err := http.NewRequestWithContext(t.Context(), h.method, s.url+h.path, strings.NewReader(h.body))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if h.kind != "" {
		request.Header.Set("Content-Type", h.kind)
	}
	if h.idempotency != "" {
		request.Header.Set("Idempotency-Key", h.idempotency)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Errorf("%s %s: %v", h.method, h.path, err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	if form := c.found(fmt.Sprint(response.Header) + string(body)); form != "" {
		t.Errorf("%s %s\n%s\nshows the secret (%s):\n%s", h.method, h.path, h.body, form, body)
	}
	if response.StatusCode == http.StatusInternalServerError {
		t.Errorf("%s %s\n%s\nanswers %s", h.method, h.path, h.body, body)
	}
}

// searchDatabase searches all files of SQLite, or all rows of PostgreSQL.
func searchDatabase(t *testing.T, e storetest.Backend, requireAbsent func(where, text string)) {
	t.Helper()
	if e.Name == "sqlite" {
		files, err := filepath.Glob(strings.TrimPrefix(e.URL(t), "file:") + "*")
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if len(text) > 0 {
				requireAbsent(filepath.Base(file), string(text))
			}
		}
		return
	}
	db := e.SQL(t)
	for _, table := range dbtest.Texts(t, db, `SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'`) {
		for _, row := range dbtest.Texts(t, db, `SELECT CAST(kept AS TEXT) FROM "`+table+`" AS kept`) {
			requireAbsent(table, row)
		}
	}
}
