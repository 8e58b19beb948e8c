package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// bodyRoutes are the routes that take a body, with a valid body in which VALUE stands for a text
// member.
var bodyRoutes = []struct{ method, path, body string }{
	{"POST", "/graphql", `{"query":"{ __typename }","operationName":null,"variables":{"a":VALUE}}`},
	{"POST", "/graphql", `{"query":VALUE}`},
	{"PUT", "/v2/settings", `{"data":{"type":"settings","page_length":VALUE}}`},
	{"POST", "/v2/promotions", `{"data":{"type":"promotion","name":VALUE,"promotion_type":"fixed_discount","start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}}`},
	{"POST", "/v2/promotions/none/codes", `{"data":{"type":"promotion_codes","codes":[{"code":VALUE}]}}`},
	{"DELETE", "/v2/promotions/none/codes", `{"data":[{"code":VALUE}]}`},
	{"POST", "/v2/inventories", `{"data":{"product_id":VALUE,"quantity":1}}`},
	{"POST", "/v2/inventories/multiple", `{"data":[{"id":VALUE}]}`},
	{"POST", "/v2/inventories/none/transactions", `{"data":{"type":"stock-transaction","action":"increment","quantity":VALUE}}`},
	{"PUT", "/v2/gateways/card_processor", `{"data":{"enabled":true,"merchant_id":VALUE}}`},
	{"POST", "/catalog/products/prod-americano/configure", `{"data":{"selected_options":VALUE}}`},
	{"POST", "/v2/shopper-tokens", `{"data":{"account_id":VALUE}}`},
	{"POST", "/oauth/access_token", `{"grant_type":"implicit","client_id":VALUE}`},
}

// values returns JSON values to send as a member, by description.
func values() map[string]string {
	return map[string]string{
		"a number": "5", "null": "null", "a list": "[]", "an object": "{}", "a text": `"x"`, "no text": `""`,
		"a number of many digits": strings.Repeat("9", 100_000), "a large exponent": "1e999999999", "a small one": "1e-999999999",
		"minus nothing": "-0", "a fraction": "0." + strings.Repeat("1", 10_000),
		"a megabyte of text": `"` + strings.Repeat("x", 1<<20) + `"`, "a megabyte of escapes": `"` + strings.Repeat(`\u00e9`, 1<<20/6) + `"`,
		"a megabyte of combining marks": `"` + strings.Repeat("\u0301", 1<<19) + `"`,
		"deep lists":                    strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000),
		"deep objects":                  strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000),
		"depth without end":             strings.Repeat("[", 500_000),
		"many members":                  "{" + strings.Repeat(`"a":1,`, 100_000) + `"b":1}`,
		"many values":                   "[" + strings.Repeat("1,", 300_000) + "1]",
		"many objects":                  "[" + strings.Repeat("{},", 200_000) + "{}]",
		"NUL":                           "\"a\x00b\"", "NUL escaped": `"a\u0000b"`, "no UTF-8": "\"a\xffb\"", "half a pair": `"\ud800"`,
		"the other half": `"\udc00\ud800"`, "an overlong byte": "\"\xc0\xaf\"", "controls": "\"\x01\x1b[31m\"", "no end": `"abc`,
		"right to left": `"\u202eabc"`, "a member twice": `1,"data":1`, "a comment": `/* x */ 1`, "NaN": "NaN", "a trailing comma": "[1,]",
		"more behind": `1}}} {"a":1`,
		"a URL":       `"http://169.254.169.254/latest/meta-data/"`, "a file": `"file:///etc/passwd"`, "SQL": `"'; DROP TABLE product; --"`,
		"a template": `"${jndi:ldap://x}{{7*7}}"`, "a prototype": `{"__proto__":{"a":1},"constructor":{}}`,
	}
}

// malformedBodies returns bodies that no route accepts, by description.
func malformedBodies() map[string]string {
	var bomb bytes.Buffer
	packed := gzip.NewWriter(&bomb)
	for range 64 { // 64 MiB, compressed to 64 kB
		_, _ = packed.Write(bytes.Repeat([]byte("["), 1<<20))
	}
	_ = packed.Close()
	return map[string]string{
		"nothing": "", "no JSON": "hello", "a list": "[]", "a text": `"x"`, "null": "null", "a mark of byte order": "\ufeff{}",
		"UTF-16": "{\x00}\x00", "NUL": "\x00", "many NULs": strings.Repeat("\x00", 1<<20),
		"a bomb": bomb.String(), "spaces": strings.Repeat(" ", 1<<20), "5 MiB": `{"data":"` + strings.Repeat("x", 5<<20) + `"}`,
		"depth": strings.Repeat("[", 4<<20), "depth of objects": strings.Repeat(`{"data":`, 500_000),
		"parts": "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{}\r\n--b--\r\n", "a form": "query=%7B__typename%7D&data=x",
	}
}

// TestMalformedBodies requires that any body is accepted or rejected in the documented shape.
func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it sends thousands of bodies; the tests of rest and graph bound each")
	a := startAttackTarget(t, "--token-rate-address", "0", "--token-rate-client", "0")
	bodies := malformedBodies()
	front := a.serverProcess.validated(t)
	send := func(what, method, path, body string, headers ...string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, front+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+a.token)
		request.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err, "%s %s: %s", method, path, what)
		defer response.Body.Close()
		var answer bytes.Buffer
		_, err = answer.ReadFrom(response.Body)
		require.NoError(t, err)
		requireDocumentedShape(t, fmt.Sprintf("%s %s: %s", method, path, what), path, response, answer.String())
		require.Less(t, answer.Len(), 64<<10, "%s %s: %s: what is sent is not sent back", method, path, what)
	}
	turn := 0
	some := func() bool { // all in full tests, a few in quick tests
		turn++
		return testkit.FullTests() || turn%5 == 0
	}
	for _, to := range bodyRoutes {
		for name, value := range values() {
			if !some() {
				continue
			}
			send(name, to.method, to.path, strings.ReplaceAll(to.body, "VALUE", value))
		}
		for name, body := range bodies {
			if !some() {
				continue
			}
			send(name, to.method, to.path, body)
		}
		good := strings.ReplaceAll(to.body, "VALUE", `"x"`)
		send("packed as gzip", to.method, to.path, bodies["a bomb"], "Content-Encoding", "gzip")
		if !testkit.FullTests() {
			continue
		}
		for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b",
			"application/json; charset=utf-7", "application/json, text/plain", "APPLICATION/JSON ;;; x", strings.Repeat("a/", 5000)} {
			send("as "+kind, to.method, to.path, good, "Content-Type", kind)
			send("parts as "+kind, to.method, to.path, bodies["parts"], "Content-Type", kind)
		}
	}
	a.requireServing(t)
	a.requireRecovered(t)
}

// TestBodiesCauseNoOutboundRequests requires that no value of a body makes the server connect to a
// URL (SSRF).
func TestBodiesCauseNoOutboundRequests(t *testing.T) {
	t.Parallel()
	a := startAttackTarget(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	came := make(chan struct{})
	go func() {
		if conn, err := listener.Accept(); err == nil {
			conn.Close()
			close(came)
		}
	}()
	at := "http://" + listener.Addr().String() + "/x"
	for _, to := range bodyRoutes {
		response, body := a.send(t, to.method, to.path, strings.ReplaceAll(to.body, "VALUE", `"`+at+`"`), "Content-Type", "application/json",
			"Authorization", "Bearer "+a.token,
			"Host", listener.Addr().String(), "Referer", at, "Origin", at, "X-Forwarded-Host", at, "X-Forwarded-For", at, "Forwarded", "for="+at,
			"Link", "<"+at+">", "Content-Location", at)
		requireDocumentedShape(t, to.path, to.path, response, body)
	}
	for _, path := range []string{"/graphql?query=" + at, "/v2/files/" + strings.ReplaceAll(at, "/", "%2F"), "/docs?url=" + at,
		"/playground?url=" + at, "/graphiql?url=" + at, "/.well-known/jwks.json?jku=" + at, "/oauth/access_token?redirect_uri=" + at} {
		response, _ := a.send(t, "GET", path, "", "Authorization", "Bearer "+a.token)
		require.Less(t, response.StatusCode, 500, path)
		require.Empty(t, response.Header.Get("Location"), path)
	}
	for _, head := range []string{`{"alg":"none"}`, `{"alg":"HS256","jku":"` + at + `"}`,
		`{"alg":"EdDSA","x5u":"` + at + `","kid":"../../x"}`, `{"alg":"EdDSA","jwk":{"kty":"OKP"}}`} {
		token := base64.RawURLEncoding.EncodeToString([]byte(head)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"`+at+`","sub":"x","scope":"catalog:write","exp":99999999999}`)) + "."
		for _, signed := range []string{token, token + "AAAA", token + "." + token, strings.Repeat("a", 30_000), "\u00e9"} {
			require.Equal(t, 401, a.reads(t, signed), "%s", head)
		}
	}
	a.requireRecovered(t)
	select {
	case <-came:
		t.Error("the server asked for what it was told of")
	default:
	}
}
