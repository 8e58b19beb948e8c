package e2e

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/release"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const espressos = `subscription { stockChanged(productIds: ["prod-americano", "prod-nothing"]) { uuid available product { sku } } }`

func americanos(available string) string {
	return `{"stockChanged":{"uuid":"prod-americano","available":` + available + `,"product":{"sku":"COF-AME"}}}`
}

// TestStockEventsFromAllServers changes stock on one server and expects events from the other, over
// both transports, with and without the stock cache, and beyond the response time limit.
func TestStockEventsFromAllServers(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		o := openDemo(t, e.URL(t))
		_, token := o.issue(t, "inventory:read", "catalog:read")
		till := o.serve(t)
		shop := o.serve(t, "--request-time", "300ms", "--response-time", "300ms")
		asks := o.serve(t, "--stock-cache-bytes", "0")
		streams := []*eventsOf{till.events(t, token, espressos), shop.events(t, token, espressos), asks.events(t, token, espressos)}
		socket := shop.open(t, bearing(token))
		subscribe(t, socket, "1", espressos)
		for _, stream := range streams {
			require.Equal(t, "text/event-stream", stream.Header.Get("Content-Type"))
			stream.want(t, americanos("400"))
		}
		require.JSONEq(t, `{"data":`+americanos("400")+`}`, string(hear(t, socket).Payload))
		time.Sleep(400 * time.Millisecond) // beyond the response time limit
		o.sell(t, "prod-americano")
		for _, stream := range streams {
			stream.want(t, americanos("399"))
		}
		require.JSONEq(t, `{"data":`+americanos("399")+`}`, string(hear(t, socket).Payload))
		for range 50 {
			o.sell(t, "prod-americano")
		}
		for _, stream := range streams { // takes fewer than 50 events
			stream.want(t, americanos("349"))
		}
		say(t, socket, message{Type: "complete", ID: "1"})
		for hear(t, socket).Type != "complete" {
		}
		subscribe(t, socket, "1", `query { __typename }`) // the id can be used again, also for a query
		require.JSONEq(t, `{"data":{"__typename":"Query"}}`, string(hear(t, socket).Payload))
	})
}

// TestRevokedClientLosesStreams revokes a client on one server, which must end its streams on the
// other.
func TestRevokedClientLosesStreams(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		here := openDemo(t, e.URL(t))
		client, token := here.issue(t, "inventory:read", "catalog:read")
		there := here.serve(t)
		events, socket := there.events(t, token, espressos), there.open(t, bearing(token))
		subscribe(t, socket, "1", espressos)
		hear(t, socket)
		byHeader := there.open(t, map[string]any{}, "Authorization", "Bearer "+token)
		events.want(t, americanos("400"))
		_, err := here.Access.RevokeClient(t.Context(), "test", client)
		require.NoError(t, err)
		event, data := events.next()
		require.Equal(t, "next", event)
		require.Contains(t, data, `"code":"UNAUTHENTICATED"`)
		require.Contains(t, data, "was revoked")
		event, _ = events.next()
		require.Equal(t, "complete", event)
		require.Equal(t, 4401, closes(t, socket))
		require.Equal(t, 4401, closes(t, byHeader))

		again := there.open(t, nil)
		say(t, again, message{Type: "connection_init", Payload: bearing(token)})
		require.Equal(t, 4403, closes(t, again))
		_, data = there.events(t, token, espressos).next()
		require.Contains(t, data, "was revoked")
	})
}

// TestPublicationAndJobEvents expects publication events for subscribers of the catalog, and
// progress events for the owner of the job.
func TestPublicationAndJobEvents(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		here := openDemo(t, e.URL(t))
		_, token := here.issue(t, "catalog:read", "catalog:write")
		_, reader := here.issue(t, "catalog:read")
		there := here.serve(t)
		working, stop := context.WithCancel(t.Context())
		worked := make(chan struct{})
		go func() { defer close(worked); here.Jobs.Work(working) }()
		defer func() { stop(); <-worked }()

		const published = `subscription { catalogPublished { catalogUuid uuid served } }`
		seen := func() string {
			v, err := here.Releases.View(t.Context(), release.ShopperContext{})
			require.NoError(t, err)
			return `{"catalogPublished":{"catalogUuid":"` + v.Release.CatalogID + `","uuid":"` + v.Release.UUID() + `","served":true}}`
		}
		stream := there.events(t, reader, published)
		first := seen()
		stream.want(t, first)
		socket := there.open(t, map[string]any{"Authorization": "Bearer " + token, "store-channel": "web"})
		subscribe(t, socket, "a", `subscription { catalogPublished { uuid } }`)
		require.Equal(t, "next", hear(t, socket).Type)

		shop, err := os.ReadFile(demoShop)
		require.NoError(t, err)
		_, err = here.Exchange.Import(t.Context(), "test", func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.ReplaceAll(string(shop), "Flat White", "Flatter White"))), nil
		}, exchange.ImportOptions{})
		require.NoError(t, err)
		v, err := here.Releases.View(t.Context(), release.ShopperContext{})
		require.NoError(t, err)
		job, err := here.Publisher.PublishLater(t.Context(), "test", v.Release.CatalogID, true)
		require.NoError(t, err)
		progress := there.events(t, token, `subscription { jobProgress(id: "`+job.ID+`") { state } }`)
		progress.want(t, `{"jobProgress":{"state":"SUCCEEDED"}}`)
		event, _ := progress.next()
		require.Equal(t, "complete", event)
		require.NotEqual(t, first, seen())
		stream.want(t, seen())

		unknown := there.events(t, token, `subscription { jobProgress(id: "none") { state } }`)
		unknown.want(t, `{"jobProgress":null}`)
		event, _ = unknown.next()
		require.Equal(t, "complete", event)
		_, data := there.events(t, reader, `subscription { jobProgress(id: "`+job.ID+`") { state } }`).next()
		require.Contains(t, data, `"code":"FORBIDDEN"`)
	})
}

// TestCatalogRuleChangeEvents changes a rule that selects another catalog: only the affected
// shoppers get an event, at once.
func TestCatalogRuleChangeEvents(t *testing.T) {
	t.Parallel()
	o := openDemo(t, "file:"+filepath.Join(t.TempDir(), "live.db"))
	_, token := o.issue(t, "catalog:read")
	o.importLines(t, `{"type":"catalog","id":"catalog-web","attributes":{"name":"Web","hierarchies":["hierarchy-shop"],"pricebook_ids":[{"id":"pricebook-shop","priority":1}]}}`)
	_, err := o.Publisher.Publish(t.Context(), "test", "catalog-web", nil)
	require.NoError(t, err)
	s := o.serve(t)
	const published = `subscription { catalogPublished { catalogUuid } }`
	of := func(catalog string) string { return `{"catalogPublished":{"catalogUuid":"` + catalog + `"}}` }
	web := s.open(t, map[string]any{"authorization": "Bearer " + token, "store-channel": "web"})
	subscribe(t, web, "1", published)
	require.JSONEq(t, `{"data":`+of("catalog-coffee")+`}`, string(hear(t, web).Payload))
	others := s.events(t, token, published)
	others.want(t, of("catalog-coffee"))

	o.importLines(t, `{"type":"catalog_rule","id":"rule-web","attributes":{"name":"web","catalog_id":"catalog-web","channels":["web"]}}`)
	require.JSONEq(t, `{"data":`+of("catalog-web")+`}`, string(hear(t, web).Payload))
	require.NoError(t, o.Catalogs.DeleteRule(t.Context(), "test", "rule-web"))
	require.JSONEq(t, `{"data":`+of("catalog-coffee")+`}`, string(hear(t, web).Payload))
	require.Zero(t, s.stop())
	event, _ := others.next()
	require.Equal(t, "end", event, "no events for others")
}

// TestSubscriptionProtocolErrorsAndLimits requires the close code of each protocol error and limit.
func TestSubscriptionProtocolErrorsAndLimits(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "the tests of graph bound streams without a process")
	o := openDemo(t, "file:"+t.TempDir()+"/live.db")
	l := o.serve(t, "--subscriptions-connection", "2", "--subscriptions-client", "3", "--document-depth", "4", "--cors-origin",
		"https://shop.example")
	_, token := o.issue(t, "inventory:read", "catalog:read")

	for code, messages := range map[int][]message{
		4400: {{Type: "connection_init"}, {Type: "subscribe", Payload: map[string]string{"query": espressos}}},
		4401: {{Type: "subscribe", ID: "1", Payload: map[string]string{"query": espressos}}},
		4429: {{Type: "connection_init"}, {Type: "connection_init"}},
		4409: {{Type: "connection_init", Payload: bearing(token)}, {Type: "subscribe", ID: "1", Payload: map[string]string{"query": espressos}},
			{Type: "subscribe", ID: "1", Payload: map[string]string{"query": espressos}}},
		4403: {{Type: "connection_init", Payload: bearing("no." + token)}},
	} {
		conn := l.open(t, nil)
		for _, m := range messages {
			say(t, conn, m)
		}
		require.Equal(t, code, closes(t, conn))
	}

	socket := l.open(t, bearing(token))
	for _, id := range []string{"1", "2"} {
		subscribe(t, socket, id, espressos)
		require.Equal(t, id, hear(t, socket).ID)
	}
	subscribe(t, socket, "3", espressos)
	refused := hear(t, socket)
	require.Equal(t, "error", refused.Type)
	require.Contains(t, string(refused.Payload), "--subscriptions-connection")
	var one *eventsOf
	testkit.Eventually(t, http.StatusOK, func() int { // once the operations of the connections above have ended
		one = l.events(t, token, espressos)
		return one.StatusCode
	})
	one.want(t, americanos("400"))
	require.Equal(t, http.StatusTooManyRequests, l.events(t, token, espressos).StatusCode)
	say(t, socket, message{Type: "complete", ID: "2"})
	require.Equal(t, "complete", hear(t, socket).Type)
	testkit.Eventually(t, true, func() bool {
		_, data := l.events(t, token, espressos).next()
		return strings.Contains(data, "400")
	}, "there is room again")

	_, data := l.events(t, token, `subscription { stockChanged(productIds: ["a"]) { product { catalogNodes { parent { name } } } } }`).next()
	require.Contains(t, data, "nests fields 5 deep")
	_, data = l.events(t, "", `query { __schema { queryType { name } } }`).next()
	require.Contains(t, data, "Introspection needs a token")
	_, data = l.events(t, token, `subscription { stockChanged(productIds: []) { total } catalogPublished { uuid } }`).next()
	require.Contains(t, data, "errors")

	for origin, status := range map[string]int{"https://evil.example": 403, "https://shop.example": 101, l.url: 101} {
		_, response, _ := websocket.Dial(t.Context(), l.url+"/graphql",
			&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{"Origin": {origin}}})
		require.Equal(t, status, response.StatusCode, origin)
	}
	_, response, _ := websocket.Dial(t.Context(), l.url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-ws"}})
	require.Equal(t, 400, response.StatusCode, "another protocol")
	response, err := http.Post(l.url+"/graphql", "application/json",
		strings.NewReader(`{"query":"subscription { catalogPublished { uuid } }"}`))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, 406, response.StatusCode, "a client that accepts one response")
}

// TestStreamsLeakNothing requires that shutdown ends streams with a code that lets clients
// reconnect, and that abandoned streams leave no goroutines.
func TestStreamsLeakNothing(t *testing.T) {
	t.Parallel()
	o := openDemo(t, "file:"+t.TempDir()+"/live.db")
	_, token := o.issue(t, "inventory:read", "catalog:read")
	s := o.serve(t, "--admin-addr", "127.0.0.1:0")
	once := func() {
		stream := s.events(t, token, espressos)
		stream.want(t, americanos("400"))
		stream.Body.Close()
		socket := s.open(t, bearing(token))
		subscribe(t, socket, "1", espressos)
		hear(t, socket)
		socket.CloseNow()
	}
	once() // start what all streams share
	testkit.Eventually(t, 0, func() float64 { return s.metric(t, "portico_graphql_subscriptions") })
	before := s.metric(t, "go_goroutines")
	for range 10 {
		once()
	}
	testkit.Eventually(t, true, func() bool { return s.metric(t, "go_goroutines") <= before }, "no goroutine is left")

	stream, socket := s.events(t, token, espressos), s.open(t, bearing(token))
	stream.want(t, americanos("400"))
	subscribe(t, socket, "1", `subscription { catalogPublished { uuid } }`)
	hear(t, socket)
	closed := make(chan int, 1)
	go func() { closed <- closes(t, socket) }()
	require.Zero(t, s.stop())
	require.Equal(t, 1001, <-closed)
	event, _ := stream.next()
	require.Equal(t, "end", event, "cut off without a complete event")
}

// TestSubscriptionReportsCost requires the cost in the first event, on request, over both
// transports.
func TestSubscriptionReportsCost(t *testing.T) {
	t.Parallel()
	o := openDemo(t, "file:"+filepath.Join(t.TempDir(), "portico.db"))
	_, token := o.issue(t, "inventory:read", "catalog:read")
	s := o.serve(t, "--document-cost", "500")
	asking := map[string]any{"query": espressos, "extensions": map[string]any{"cost": true}}
	stream, socket, silent := streaming(t, s.url, token, asking), s.open(t, bearing(token)), s.events(t, token, espressos)
	say(t, socket, message{Type: "subscribe", ID: "1", Payload: asking})
	next := func(of *eventsOf) string { _, data := of.next(); return data }
	for _, first := range []string{next(stream), string(hear(t, socket).Payload)} {
		require.Contains(t, first, `"available":400`)
		require.Regexp(t, `"extensions":\{"cost":\{"requested":\d{1,3},"limit":500\}\}`, first)
	}
	require.NotContains(t, next(silent), `"extensions"`)
	o.sell(t, "prod-americano")
	for _, later := range []string{next(stream), string(hear(t, socket).Payload), next(silent)} {
		require.Contains(t, later, `"available":399`)
		require.NotContains(t, later, `"extensions"`)
	}

	s = o.serve(t, "--document-cost", "2")
	socket = s.open(t, bearing(token))
	say(t, socket, message{Type: "subscribe", ID: "1", Payload: asking})
	require.Contains(t, string(hear(t, socket).Payload), "UNPROCESSABLE", "the protocol has no extensions here")
	refusal := next(streaming(t, s.url, token, asking))
	require.Contains(t, refusal, "UNPROCESSABLE")
	require.Regexp(t, `"extensions":\{"cost":\{"requested":\d{1,3},"limit":2\}\}`, refusal, "also for rejected operations")
}
