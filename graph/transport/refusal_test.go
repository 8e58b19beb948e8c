package transport_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	transportx "portico/graph/transport"
	"portico/internal/auth"
	"portico/store/storetest/testkit"
)

const (
	maxRefusalBytes = 8 << 20               // allocated for a refusal, beyond reading its body
	maxRefusalCPU   = 10 * time.Millisecond // beyond reading its body
)

// refusedRequest is a request that is refused. members returns its members as JSON, about as long as size.
type refusedRequest struct {
	flag    string // the limit that it exceeds; empty for none
	name    string
	members func(size int) map[string]string
}

// quoted returns a text as JSON.
func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// padded returns the members with a document, and a variable that fills up the size with words.
func padded(query string) func(int) map[string]string {
	return func(size int) map[string]string {
		document := quoted(query)
		return map[string]string{"query": document, "variables": `{"pad":"` + fill(size-len(document)-60, "word-# ") + `"}`}
	}
}

// within returns padded for a document that a comment makes as long as a document may be.
func within(query string) func(int) map[string]string {
	return func(size int) map[string]string {
		return padded(query + "#" + strings.Repeat("é", max(0, min(size/2, 262_000)-len(query))/2))(size)
	}
}

// member returns the members of a request of which one has a value that fills up the size.
func member(name, before, text, after string) func(int) map[string]string {
	return func(size int) map[string]string {
		members := map[string]string{"query": `"query ($v: Int, $f: ProductFilter) { products(first: $v, filter: $f) { totalCount } }"`}
		members[name] = before + fill(size-len(before)-len(after)-120, text) + after
		return members
	}
}

// refusedRequests has requests that exceed each limit of a request, and others that are refused.
func refusedRequests() []refusedRequest {
	const core = `{__typename}`
	return []refusedRequest{
		{"--document-bytes", "", member("query", `"{`, `a,`, `}"`)},
		{"--document-bytes", "escapes", member("query", `"{`, `\u0061\n`, `}"`)},
		{"--document-bytes", "characters of two bytes", member("query", `"#`, `é`, `"`)},
		{"--document-tokens", "", within(`{` + strings.Repeat("a ", 20_000) + `}`)},
		{"--document-depth", "", within(graphtest.Nested(400, `{catalogNodes{nodes`, `{id}`, `}}`))},
		{"--document-name", "", within(`{` + strings.Repeat("a", 30_000) + `}`)},
		{"--document-fields", "", within(`{` + graphtest.Many(400, ` a#:settings{`+strings.Repeat("id ", 14)+`}`) + `}`)},
		{"--document-root-fields", "", within(`{` + graphtest.Many(3_000, ` a#:__typename`) + `}`)},
		{"--document-aliases", "", within(`{settings{` + graphtest.Many(3_000, ` a#:id`) + `}}`)},
		{"--document-repeats", "", within(`{settings{` + strings.Repeat("id ", 4_990) + `}}`)},
		{"--document-operations", "", within(graphtest.Many(2_500, ` query q#{id}`))},
		{"--document-fragments", "", within(core + graphtest.Many(1_800, ` fragment f# on Query{id}`))},
		{"--document-variables", "", within(`query(` + graphtest.Many(3_500, ` $v#:Int`) + `)` + core)},
		{"--document-directives", "", within(`{__typename` + strings.Repeat(` @include(if:true)`, 2_000) + `}`)},
		{"--document-steps", "", within(`{...f0}` + graphtest.Many(499, ` fragment f# on Query{...f%}`) + ` fragment f499 on Query{__typename}`)},
		{"--document-cost", "", within(`{` + graphtest.Many(450, ` a#:products(first:100){nodes{id name sku}}`) + `}`)},
		{"--request-values", "", member("variables", `{"v":[0`, `,0`, `]}`)},
		{"--request-values", "of other members", member("more", `[0`, `,[0]`, `]`)},
		{"--request-nesting", "", func(size int) map[string]string {
			return map[string]string{"query": `"` + core + `"`, "variables": graphtest.Nested(size/6-20, `{"a":`, `1`, `}`)}
		}},
		{"", "an operation's name", member("operationName", `"`, `word-# `, `"`)},
		{"", "a document's id", member("documentId", `"`, `word-# `, `"`)},
		{"", "a document's hash", member("extensions", `{"persistedQuery":{"version":1,"sha256Hash":"`, `word-# `, `"}}`)},
		{"", "unused variables", member("variables", `{"x":1`, `,"abcdefghijkl#":1`, `}`)},
		{"", "other members", member("variables", `{"v":"x"},"x":1`, `,"abcdefghijkl#":1`, ``)},
		{"", "a text for a number", member("variables", `{"v":"`, `word-# `, `"}`)},
		{"", "digits for a number", member("variables", `{"v":`, `9`, `}`)},
		{"", "a text for an input", member("variables", `{"f":"`, `\u00e9`, `"}`)},
		{"", "a member of an input that is unknown", member("variables", `{"f":{"x":"`, `é`, `"}}`)},
		{"", "a name of a member", member("variables", `{"f":{"`, `word-# `, `":1}}`)},
		{"", "members of an input that are unknown", member("variables", `{"f":{"x":1`, `,"abcdefghijkl#":"abc"`, `}}`)},
		{"", "half a surrogate pair", member("variables", `{"v":"`, `\u00e9`, `\ud800"}`)},
		{"", "another kind of member", member("query", `["`, `word-# `, `"]`)},
		{"", "no JSON", member("variables", `{"v":"`, `word-# `, `"}]`)},
		{"", "no GraphQL", within(strings.Repeat(`{a(b:"c d"`, 2_000))},
		{"", "a string that does not end", within(`{a(b:"` + strings.Repeat("x", 20_000))},
		{"", "unknown fields", within(`{` + graphtest.Many(450, ` product`+strings.Repeat("s", 80)+`#`) + `}`)},
		{"", "unknown values", within(`{` + graphtest.Many(450, ` a#:products(orderBy:{field:NAM#}){totalCount}`) + `}`)},
		{"", "a list of wrong values", within(`{nodes(ids:[` + strings.Repeat(`true `, 14_000) + `]){id}}`)},
		{"", "a secret", within(`mutation{gatewayUpdate(input:{password:"` + strings.Repeat("x", 100_000) + `"}){userErrors{code}}}`)},
	}
}

// notByRequest has the limits of both tables that no GraphQL request exceeds before it runs.
var notByRequest = map[string]string{
	"--header-time": "time", "--body-time": "time", "--request-time": "time", "--response-time": "time", "--idle-time": "time", "--request-wait": "time",
	"--header-bytes": "the server of HTTP refuses it", "--connections": "connections", "--connections-address": "connections", "--streams-connection": "connections",
	"--requests": "other requests", "--requests-waiting": "other requests", "--requests-expensive": "other requests", "--subscriptions-connection": "other requests",
	"--subscriptions-client": "other requests", "--subscriptions-address": "other requests",
	"--response-memory": "responses", "--document-response-bytes": "responses",
	"--body-bytes": "TestTooLongBodiesCostTheirReading", "--message-bytes": "TestTooLongBodiesCostTheirReading",
}

// body returns members as the JSON of a request. The document is last, so that it is read after the rest.
func body(members map[string]string) string {
	names := slices.Sorted(maps.Keys(members))
	slices.Reverse(names)
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, `%s%q:%s`, map[bool]string{true: "{", false: ","}[i == 0], name, members[name])
	}
	return b.String() + "}"
}

// work is what a request took of the process.
type work struct {
	bytes uint64
	cpu   time.Duration
}

// workOf measures a call. Nothing else may run.
func workOf(run func()) work {
	var before, after runtime.MemStats
	var began, ended syscall.Rusage
	runtime.ReadMemStats(&before)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &began)
	run()
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &ended)
	runtime.ReadMemStats(&after)
	cpu := ended.Utime.Nano() + ended.Stime.Nano() - began.Utime.Nano() - began.Stime.Nano()
	return work{after.TotalAlloc - before.TotalAlloc, time.Duration(cpu)}
}

// refusalTransport sends requests. size is the maximum of its requests in bytes.
type refusalTransport struct {
	name string
	size int
	// prepare returns how to send a request of these members, and read the response; reading sends as many bytes to be read alone.
	prepare func(t *testing.T, members map[string]string, p *auth.Principal) (send func() string, reading func())
}

func refusalTransports(t *testing.T) []refusalTransport {
	s := graphtest.Serve(nil)
	post := func(accept string) func(*testing.T, map[string]string, *auth.Principal) (func() string, func()) {
		return func(t *testing.T, members map[string]string, p *auth.Principal) (func() string, func()) {
			text := body(members)
			r, w := graphtest.As(graphtest.NewRaw(t, text), p), httptest.NewRecorder()
			r.Header.Set("Accept", accept)
			return func() string { s.Handler.ServeHTTP(w, r); return w.Body.String() },
				func() { _, _ = auth.ReadBody(w, graphtest.NewRaw(t, text), 5<<20, nil) }
		}
	}
	l := newStreams(t, func(*transportx.StreamConfig) {})
	return []refusalTransport{
		{"POST", 4 << 20, post("application/json")},
		{"SSE", 4 << 20, post("text/event-stream")},
		{"GET", 64 << 10, func(t *testing.T, members map[string]string, p *auth.Principal) (func() string, func()) {
			values := url.Values{}
			for name, value := range members {
				var text string
				if json.Unmarshal([]byte(value), &text) != nil {
					text = value
				}
				values.Set(name, text)
			}
			r, w := graphtest.As(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/graphql?"+values.Encode(), nil), p), httptest.NewRecorder()
			return func() string { s.Handler.ServeHTTP(w, r); return w.Body.String() }, func() { _ = r.URL.Query() }
		}},
		{"WebSocket", 1<<20 - 200, func(t *testing.T, members map[string]string, p *auth.Principal) (func() string, func()) {
			header := http.Header{}
			if p != nil {
				header.Set("Authorization", l.token)
			}
			conn, _, err := websocket.Dial(t.Context(), pipeURL, &websocket.DialOptions{HTTPClient: l.client, HTTPHeader: header, Subprotocols: []string{"graphql-transport-ws"}})
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.CloseNow() })
			exchange := func(text string) string {
				_ = conn.Write(t.Context(), websocket.MessageText, []byte(text)) // fails if the server closes the connection within the message
				_, answer, err := conn.Read(t.Context())
				if err != nil {
					return err.Error()
				}
				return string(answer)
			}
			exchange(`{"type":"connection_init"}`)
			text := `{"id":"1","type":"subscribe","payload":` + body(members) + `}`
			return func() string { return exchange(text) }, func() { exchange(`{"type":"ping"}` + strings.Repeat(" ", len(text))) }
		}},
	}
}

// A refused request costs little beyond reading its body: with and without a token, over each transport, for each limit that a
// request can exceed, at the largest size. The CPU is counted in the full tests. It does not run in parallel: others would count.
func TestRefusalsCostLittle(t *testing.T) {
	documented, err := os.ReadFile("../../docs/security.md")
	require.NoError(t, err)
	_, tables, _ := strings.Cut(string(documented), "### Requests")
	tables, _, _ = strings.Cut(tables, "### Database")
	for _, flag := range regexp.MustCompile("(?m)^\\| `(--[a-z-]+)` ").FindAllStringSubmatch(tables, -1) {
		covered := slices.ContainsFunc(refusedRequests(), func(r refusedRequest) bool { return r.flag == flag[1] })
		require.NotEqual(t, covered, notByRequest[flag[1]] != "", "%s is in refusedRequests, or in notByRequest", flag[1])
	}
	for _, transport := range refusalTransports(t) {
		for _, refused := range refusedRequests() {
			if transport.name == "GET" && refused.members(1000)["more"] != "" {
				continue // it has parameters alone
			}
			for who, principal := range map[string]*auth.Principal{"nobody": nil, "anyone": graphtest.PublicClient()} {
				if !testkit.FullTests() && (transport.name == "POST") != (principal != nil) {
					continue // the quick tests send each body over each transport once
				}
				t.Run(fmt.Sprint(transport.name, " ", refused.flag, " ", refused.name, " by ", who), func(t *testing.T) {
					members := refused.members(transport.size)
					answer := ""
					least, read := work{1 << 40, time.Hour}, work{1 << 40, time.Hour}
					for i := range testkit.QuickOrFull(2, 30) { // the first fills pools; other processes take caches and pipelines of the CPU
						send, _ := transport.prepare(t, members, principal)
						took := workOf(func() { answer = send() })
						least = work{min(least.bytes, took.bytes), min(least.cpu, took.cpu)}
						if i > 0 && least.cpu < maxRefusalCPU {
							break
						}
						_, reading := transport.prepare(t, members, principal)
						took = workOf(reading)
						read = work{min(read.bytes, took.bytes), min(read.cpu, took.cpu)}
					}
					require.Regexp(t, `"errors"|"error"|status = 4400|StatusCode\(4400\)`, answer)
					require.NotRegexp(t, `"data":[^n]`, answer)
					t.Logf("%d KiB and %s, beyond reading: %d KiB and %s; %.200s", least.bytes>>10, least.cpu, int64(least.bytes-read.bytes)>>10, least.cpu-read.cpu, answer)
					if flag := refused.flag; flag != "" && transport.name != "GET" { // a query string is too short for some
						require.Regexp(t, `at most \d+ are allowed|may cost`, answer)
					}
					require.Less(t, least.bytes, read.bytes+maxRefusalBytes, "bytes allocated")
					if testkit.FullTests() {
						require.Less(t, least.cpu, read.cpu+maxRefusalCPU, "CPU")
					}
				})
			}
		}
	}
}

// A body above the limit of its transport is not decoded.
func TestTooLongBodiesCostTheirReading(t *testing.T) {
	for _, transport := range refusalTransports(t) {
		if transport.name == "GET" {
			continue // the server of HTTP limits the header
		}
		members := member("query", `"{`, `a,`, `}"`)(transport.size + 300)
		send, reading := transport.prepare(t, members, nil)
		answer := ""
		took := workOf(func() { answer = send() })
		require.Regexp(t, `larger than 4 MiB|StatusMessageTooBig|closed network connection|EOF`, answer)
		require.Less(t, took.bytes, workOf(reading).bytes+maxRefusalBytes, transport.name)
	}
}
