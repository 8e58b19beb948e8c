package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"portico/internal/auth"
	"portico/internal/demo"
	"portico/store/shop"
	"portico/store/storetest"
)

// lively is a server with its listener, beside others over one database.
type lively struct {
	*hot
	url  string
	stop func() error // as a signal does
}

func liven(t testing.TB, url string, flags ...string) *lively {
	t.Helper()
	l := &lively{hot: beside(t, url, flags...)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l.url = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.answer(ctx, listener, nil) }()
	l.stop = func() error {
		cancel()
		return <-ended
	}
	t.Cleanup(cancel)
	return l
}

// issue makes a client, and a token for it.
func (l *lively) issue(t testing.TB, scopes ...string) (client, token string) {
	t.Helper()
	made, _, err := l.store.CreateClient(t.Context(), "test", "test", scopes)
	require.NoError(t, err)
	issued, err := l.tokens.Issue(t.Context(), auth.Grant{Type: auth.GrantClientCredentials, ClientID: made.ID, Scopes: made.Scopes, Lifetime: time.Hour})
	require.NoError(t, err)
	return made.ID, issued.AccessToken
}

// eventsOf opens a stream of events.
type eventsOf struct {
	*http.Response
	lines *bufio.Scanner
}

func (l *lively) events(t testing.TB, token, query string) *eventsOf {
	t.Helper()
	return streaming(t, l.url, token, map[string]any{"query": query})
}

func streaming(t testing.TB, url, token string, operation map[string]any) *eventsOf {
	t.Helper()
	body, err := json.Marshal(operation)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/graphql", strings.NewReader(string(body)))
	require.NoError(t, err)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return &eventsOf{response, bufio.NewScanner(response.Body)}
}

// next is the next event and what it brings; end where there is none.
func (e *eventsOf) next() (event, data string) {
	event = "end"
	for e.lines.Scan() {
		switch name, value, _ := strings.Cut(e.lines.Text(), ": "); {
		case name == "event":
			event = value
		case name == "data":
			data = value
		case name == "" && event != "end":
			return event, data
		}
	}
	return event, data
}

// want takes the events up to the one that brings some data.
func (e *eventsOf) want(t testing.TB, wanted string) {
	t.Helper()
	for range 20 {
		event, data := e.next()
		require.Equal(t, "next", event, "no %s, but %s", wanted, data)
		if data == `{"data":`+wanted+`}` {
			return
		}
	}
	require.Fail(t, "not told", wanted)
}

// message is one of graphql-transport-ws.
type message struct {
	Type    string `json:"type"`
	ID      string `json:"id,omitempty"`
	Payload any    `json:"payload,omitempty"`
}

// open opens a WebSocket, and begins it unless there is nothing to begin with.
func (l *lively) open(t testing.TB, greeting map[string]any, headers ...string) *websocket.Conn {
	t.Helper()
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	conn, response, err := websocket.Dial(t.Context(), l.url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
	require.NoError(t, err, "%v", response)
	t.Cleanup(func() { conn.CloseNow() })
	if greeting != nil {
		say(t, conn, message{Type: "connection_init", Payload: greeting})
		require.Equal(t, "connection_ack", hear(t, conn).Type)
	}
	return conn
}

func say(t testing.TB, conn *websocket.Conn, m message) {
	t.Helper()
	require.NoError(t, wsjson.Write(t.Context(), conn, m))
}

func hear(t testing.TB, conn *websocket.Conn) (m struct {
	Type, ID string
	Payload  json.RawMessage
}) {
	t.Helper()
	require.NoError(t, wsjson.Read(t.Context(), conn, &m))
	return m
}

func subscribe(t testing.TB, conn *websocket.Conn, id, query string) {
	t.Helper()
	say(t, conn, message{Type: "subscribe", ID: id, Payload: map[string]string{"query": query}})
}

// closes is the code that a WebSocket is closed with.
func closes(t testing.TB, conn *websocket.Conn) int {
	t.Helper()
	for {
		if _, _, err := conn.Read(t.Context()); err != nil {
			return int(websocket.CloseStatus(err))
		}
	}
}

func bearing(token string) map[string]any { return map[string]any{"authorization": "Bearer " + token} }

// sell takes one of a product.
func (l *lively) sell(t testing.TB, product string) {
	t.Helper()
	_, err := l.store.TransactStock(t.Context(), "test", []shop.StockChange{{ProductID: product, Action: shop.StockDecrement, Quantity: 1}})
	require.NoError(t, err)
}

const espressos = `subscription { stockChanged(productIds: ["prod-americano", "prod-nothing"]) { uuid available product { sku } } }`

func americanos(available string) string {
	return `{"stockChanged":{"uuid":"prod-americano","available":` + available + `,"product":{"sku":"COF-AME"}}}`
}

// What is sold at one server is told by the other, over both transports, and
// for longer than any answer may take; whether stock is in memory or not.
func TestStockIsToldByEveryServer(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		till := liven(t, e.URL(t))
		require.NoError(t, demo.Fill(t.Context(), till.store))
		_, token := till.issue(t, "inventory:read", "catalog:read")
		shop := liven(t, e.URL(t), "--request-time", "300ms", "--answer-time", "300ms")
		asks := liven(t, e.URL(t), "--stock-cache-bytes", "0")
		streams := []*eventsOf{till.events(t, token, espressos), shop.events(t, token, espressos), asks.events(t, token, espressos)}
		socket := shop.open(t, bearing(token))
		subscribe(t, socket, "1", espressos)
		for _, stream := range streams {
			require.Equal(t, "text/event-stream", stream.Header.Get("Content-Type"))
			stream.want(t, americanos("400"))
		}
		require.JSONEq(t, `{"data":`+americanos("400")+`}`, string(hear(t, socket).Payload))
		time.Sleep(400 * time.Millisecond) // beyond what bounds an answer
		till.sell(t, "prod-americano")
		for _, stream := range streams {
			stream.want(t, americanos("399"))
		}
		require.JSONEq(t, `{"data":`+americanos("399")+`}`, string(hear(t, socket).Payload))
		for range 50 {
			till.sell(t, "prod-americano")
		}
		for _, stream := range streams { // in less than fifty steps
			stream.want(t, americanos("349"))
		}
		say(t, socket, message{Type: "complete", ID: "1"})
		for hear(t, socket).Type != "complete" {
		}
		subscribe(t, socket, "1", `query { __typename }`) // the id is free, and a query is answered
		require.JSONEq(t, `{"data":{"__typename":"Query"}}`, string(hear(t, socket).Payload))
	})
}

// A client that is revoked on one server loses its streams on the other.
func TestStreamsEndWithTheirToken(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		here := liven(t, e.URL(t))
		require.NoError(t, demo.Fill(t.Context(), here.store))
		client, token := here.issue(t, "inventory:read", "catalog:read")
		there := liven(t, e.URL(t))
		events, socket := there.events(t, token, espressos), there.open(t, bearing(token))
		subscribe(t, socket, "1", espressos)
		hear(t, socket)
		byHeader := there.open(t, map[string]any{}, "Authorization", "Bearer "+token)
		events.want(t, americanos("400"))
		_, err := here.store.RevokeClient(t.Context(), "test", client)
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

// A publication is told to those who see its catalog, and its progress to who
// asked for it.
func TestPublicationsAndJobsAreTold(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		here := liven(t, e.URL(t))
		require.NoError(t, demo.Fill(t.Context(), here.store))
		_, token := here.issue(t, "catalog:read", "catalog:write")
		_, reader := here.issue(t, "catalog:read")
		there := liven(t, e.URL(t))
		working, stop := context.WithCancel(t.Context())
		worked := make(chan struct{})
		go func() { defer close(worked); here.store.Work(working) }()
		defer func() { stop(); <-worked }()

		const published = `subscription { catalogPublished { catalogId uuid served } }`
		seen := func() string {
			v, err := here.store.View(t.Context(), shop.ShopperContext{})
			require.NoError(t, err)
			return `{"catalogPublished":{"catalogId":"` + v.Release.CatalogID + `","uuid":"` + v.Release.UUID() + `","served":true}}`
		}
		stream := there.events(t, reader, published)
		first := seen()
		stream.want(t, first)
		socket := there.open(t, map[string]any{"Authorization": "Bearer " + token, "store-channel": "web"})
		subscribe(t, socket, "a", `subscription { catalogPublished { uuid } }`)
		require.Equal(t, "next", hear(t, socket).Type)

		_, err := here.store.Import(t.Context(), "test", func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.ReplaceAll(demo.Shop(), "Flat White", "Flatter White"))), nil
		}, shop.ImportOptions{})
		require.NoError(t, err)
		v, err := here.store.View(t.Context(), shop.ShopperContext{})
		require.NoError(t, err)
		job, err := here.store.PublishLater(t.Context(), "test", v.Release.CatalogID, true)
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

// What the protocol forbids, and what is too much, ends with its code.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	l := liven(t, "file:"+t.TempDir()+"/live.db", "--subscriptions-connection", "2", "--subscriptions-client", "3", "--document-depth", "4", "--cors-origin", "https://shop.example")
	require.NoError(t, demo.Fill(t.Context(), l.store))
	_, token := l.issue(t, "inventory:read", "catalog:read")

	for code, messages := range map[int][]message{
		4400: {{Type: "connection_init"}, {Type: "subscribe", Payload: map[string]string{"query": espressos}}},
		4401: {{Type: "subscribe", ID: "1", Payload: map[string]string{"query": espressos}}},
		4429: {{Type: "connection_init"}, {Type: "connection_init"}},
		4409: {{Type: "connection_init", Payload: bearing(token)}, {Type: "subscribe", ID: "1", Payload: map[string]string{"query": espressos}}, {Type: "subscribe", ID: "1", Payload: map[string]string{"query": espressos}}},
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
	require.Contains(t, string(hear(t, socket).Payload), "--subscriptions-connection")
	require.Equal(t, "complete", hear(t, socket).Type)
	one := l.events(t, token, espressos)
	one.want(t, americanos("400"))
	_, data := l.events(t, token, espressos).next()
	require.Contains(t, data, "--subscriptions-client")
	require.Contains(t, data, `"code":"RATE_LIMITED"`)
	say(t, socket, message{Type: "complete", ID: "2"})
	require.Equal(t, "complete", hear(t, socket).Type)
	storetest.Soon(t, true, func() bool {
		_, data := l.events(t, token, espressos).next()
		return strings.Contains(data, "400")
	}, "there is room again")

	_, data = l.events(t, token, `subscription { stockChanged(productIds: ["a"]) { product { nodes { parent { name } } } } }`).next()
	require.Contains(t, data, "nests fields 5 deep")
	_, data = l.events(t, "", `query { __schema { queryType { name } } }`).next()
	require.Contains(t, data, "Introspection needs a token")
	_, data = l.events(t, token, `subscription { stockChanged(productIds: []) { total } catalogPublished { uuid } }`).next()
	require.Contains(t, data, "errors")

	for origin, status := range map[string]int{"https://evil.example": 403, "https://shop.example": 101, l.url: 101} {
		_, response, _ := websocket.Dial(t.Context(), l.url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{"Origin": {origin}}})
		require.Equal(t, status, response.StatusCode, origin)
	}
	_, response, _ := websocket.Dial(t.Context(), l.url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-ws"}})
	require.Equal(t, 400, response.StatusCode, "another protocol")
	response, err := http.Post(l.url+"/graphql", "application/json", strings.NewReader(`{"query":"subscription { catalogPublished { uuid } }"}`))
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, 406, response.StatusCode, "who takes one answer")
}

// A server that shuts down sends its streams away, to come again; and nothing
// of them is left.
func TestNothingOfAStreamIsLeft(t *testing.T) { // not beside others, whose goroutines it would find
	ignored := goleak.IgnoreCurrent()
	t.Run("", func(t *testing.T) {
		l := liven(t, "file:"+t.TempDir()+"/live.db", "--linger", "0s")
		require.NoError(t, demo.Fill(t.Context(), l.store))
		_, token := l.issue(t, "inventory:read", "catalog:read")
		for range 3 { // clients that go without a word
			stream := l.events(t, token, espressos)
			stream.want(t, americanos("400"))
			stream.Body.Close()
			socket := l.open(t, bearing(token))
			subscribe(t, socket, "1", espressos)
			hear(t, socket)
			socket.CloseNow()
		}
		stream, socket := l.events(t, token, espressos), l.open(t, bearing(token))
		stream.want(t, americanos("400"))
		subscribe(t, socket, "1", `subscription { catalogPublished { uuid } }`)
		hear(t, socket)
		closed := make(chan int, 1)
		go func() { closed <- closes(t, socket) }()
		require.NoError(t, l.stop())
		require.Equal(t, 1001, <-closed)
		event, _ := stream.next()
		require.Equal(t, "end", event, "cut off, and not complete")
		require.NoError(t, l.store.Close())
		http.DefaultClient.CloseIdleConnections()
	})
	goleak.VerifyNone(t, ignored)
}
