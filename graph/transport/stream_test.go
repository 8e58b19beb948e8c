package transport_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/graphtest"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// pipes is a listener of unbuffered connections: a write waits until the other side reads.
type pipes struct {
	arrive chan net.Conn
	closed chan struct{}
	close  func()
}

func newPipes() *pipes {
	p := &pipes{arrive: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.arrive:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error { p.close(); return nil }

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.arrive <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// streams is a server of subscriptions over pipes, with one client.
type streams struct {
	store  *shop.Store
	clock  *testkit.Clock // of tokens
	token  string         // for an hour, and everything
	client *http.Client
	open   atomic.Int64 // subscriptions
}

const pipeURL = "http://pipe/graphql"

func newStreams(t *testing.T, change func(*transport.StreamConfig), options ...transport.Option) *streams {
	t.Helper()
	s, err := shop.Open(t.Context(), shop.Config{URL: "file:" + t.TempDir() + "/live.db", Synchronous: "OFF"})
	require.NoError(t, err)
	graphtest.Load(t, s, graphtest.Shop())
	live, l := transport.DefaultStreamConfig(), &streams{store: s, clock: testkit.NewClock(time.Now())}
	tokens, err := auth.New(t.Context(), s.Access, storetest.NewSealer(t, 'k'), auth.Options{Clock: l.clock.Now})
	require.NoError(t, err)
	client, _, err := s.Access.CreateClient(t.Context(), "test", "test", access.Scopes())
	require.NoError(t, err)
	issued, err := tokens.Issue(t.Context(), auth.Grant{Type: auth.GrantClientCredentials, ClientID: client.ID, Scopes: client.Scopes})
	require.NoError(t, err)
	l.token = "Bearer " + issued.AccessToken

	live.CountSubscriptions = func(change int) { l.open.Add(int64(change)) }
	change(&live)
	handler := transport.NewHandler(graph.NewResolver(s, graph.WithTokens(tokens)), slog.New(slog.DiscardHandler), append(options, transport.WithStreams(live))...)
	listener, server := newPipes(), &http.Server{Handler: tokens.Middleware(opctx.Middleware(handler))}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	transport := &http.Transport{DialContext: listener.dial}
	l.client = &http.Client{Transport: transport}
	t.Cleanup(func() {
		testkit.Eventually(t, 0, l.open.Load, "every subscription has ended")
		transport.CloseIdleConnections()
		require.NoError(t, server.Close())
		<-served
		require.NoError(t, s.Close())
	})
	return l
}

const anvils = `subscription { stockChanged(productIds: ["anvil"]) { available } }`

// socket opens a WebSocket and initializes it.
func (l *streams) socket(t *testing.T) *websocket.Conn {
	t.Helper()
	conn := l.dial(t)
	require.NoError(t, wsjson.Write(t.Context(), conn, map[string]string{"type": "connection_init"}))
	require.Equal(t, "connection_ack", heard(t, conn).Type)
	return conn
}

func (l *streams) dial(t *testing.T) *websocket.Conn {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), pipeURL, &websocket.DialOptions{
		HTTPClient: l.client, HTTPHeader: http.Header{"Authorization": {l.token}}, Subprotocols: []string{"graphql-transport-ws"}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

// socketMessage is a message of graphql-transport-ws.
type socketMessage struct {
	Type, ID string
	Payload  json.RawMessage
}

func heard(t *testing.T, conn *websocket.Conn) (m socketMessage) {
	t.Helper()
	require.NoError(t, wsjson.Read(t.Context(), conn, &m))
	return m
}

func subscribe(t *testing.T, conn *websocket.Conn, id, query string) {
	t.Helper()
	require.NoError(t, wsjson.Write(t.Context(), conn, map[string]any{"type": "subscribe", "id": id, "payload": map[string]string{"query": query}}))
}

// events opens an event stream, and reads its first line.
func (l *streams) events(t *testing.T, method, query string) (*http.Response, *bufio.Reader) {
	t.Helper()
	target, body := pipeURL, io.Reader(nil)
	if method == http.MethodPost {
		text, err := json.Marshal(map[string]string{"query": query})
		require.NoError(t, err)
		body = strings.NewReader(string(text))
	} else {
		target += "?query=" + url.QueryEscape(query)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, body)
	require.NoError(t, err)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", l.token)
	response, err := l.client.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response, bufio.NewReader(response.Body)
}

// line returns the next line that is not empty.
func line(t *testing.T, events *bufio.Reader) string {
	t.Helper()
	for {
		text, err := events.ReadString('\n')
		require.NoError(t, err)
		if text = strings.TrimSpace(text); text != "" && text != ":" {
			return text
		}
	}
}

// Streams without a reader or a client end and leak nothing.
func TestAbandonedStreamsEnd(t *testing.T) { // not beside others, whose goroutines it would find
	ignored := goleak.IgnoreCurrent()
	for name, test := range map[string]struct {
		change func(*transport.StreamConfig)
		see    func(*testing.T, *streams)
	}{
		"a WebSocket that does not begin": {func(live *transport.StreamConfig) { live.InitTimeout = 20 * time.Millisecond }, func(t *testing.T, l *streams) {
			_, _, err := l.dial(t).Read(t.Context())
			require.EqualValues(t, 4408, websocket.CloseStatus(err), "%v", err)
		}},
		"a client that answers no ping": {func(live *transport.StreamConfig) { live.PingInterval = time.Second }, func(t *testing.T, l *streams) {
			mute, alive := l.socket(t), l.socket(t)
			subscribe(t, mute, "1", anvils)
			subscribe(t, alive, "1", anvils)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				for {
					if _, _, err := mute.Read(t.Context()); err != nil {
						return
					}
				}
			}()
			for pings := 0; pings < 3; {
				if heard(t, alive).Type == "ping" {
					pings++
					require.NoError(t, wsjson.Write(t.Context(), alive, map[string]string{"type": "pong"}))
				}
			}
			<-gone
			require.EqualValues(t, 1, l.open.Load(), "who answers stays")
		}},
		"a message that is never whole": {func(live *transport.StreamConfig) { live.PingInterval = 50 * time.Millisecond }, func(t *testing.T, l *streams) {
			conn := l.socket(t)
			writer, err := conn.Writer(t.Context(), websocket.MessageText)
			require.NoError(t, err)
			go func() { _, _ = writer.Write([]byte(`{"type":"subscribe",` + strings.Repeat(" ", 10_000))) }()
			for err == nil {
				_, _, err = conn.Read(t.Context())
			}
		}},
		"events that are not read": {func(live *transport.StreamConfig) {
			live.WriteTimeout, live.PingInterval = 50*time.Millisecond, 20*time.Millisecond
		}, func(t *testing.T, l *streams) {
			_, events := l.events(t, http.MethodPost, anvils)
			require.Equal(t, "event: next", line(t, events))
			require.EqualValues(t, 1, l.open.Load())
			testkit.Eventually(t, 0, l.open.Load)
		}},
		"a WebSocket that is not read": {func(live *transport.StreamConfig) { live.WriteTimeout = 50 * time.Millisecond }, func(t *testing.T, l *streams) {
			conn := l.socket(t)
			subscribe(t, conn, "1", anvils)
			testkit.Eventually(t, 0, l.open.Load)
		}},
		"clients that go": {func(*transport.StreamConfig) {}, func(t *testing.T, l *streams) {
			for range 3 {
				conn := l.socket(t)
				subscribe(t, conn, "1", anvils)
				require.Equal(t, "next", heard(t, conn).Type)
				require.NoError(t, conn.CloseNow())
				response, events := l.events(t, http.MethodGet, anvils)
				require.Equal(t, "event: next", line(t, events))
				require.NoError(t, response.Body.Close())
			}
		}},
	} {
		t.Run(name, func(t *testing.T) { test.see(t, newStreams(t, test.change)) })
	}
	goleak.VerifyNone(t, ignored)
}

// Each transport reports in its own way an operation that is refused.
func TestStreamsThatAreRefused(t *testing.T) {
	t.Parallel()
	l := newStreams(t, func(live *transport.StreamConfig) { live.PerClient, live.PerConnection = 1, 1 })
	conn := l.socket(t)
	for _, faulty := range []string{`subscription { nothing }`, `{`, `subscription { stockChanged { available } }`} {
		subscribe(t, conn, "1", faulty) // the id is free again each time, and no more is said of it
		m := heard(t, conn)
		require.Equal(t, "error", m.Type, "%s", m.Payload)
		require.Equal(t, "1", m.ID)
		var faults []graphtest.Error
		require.NoError(t, json.Unmarshal(m.Payload, &faults), "%s", m.Payload)
		require.NotEmpty(t, faults)

		response, events := l.events(t, http.MethodPost, faulty)
		require.Equal(t, http.StatusOK, response.StatusCode)
		require.Equal(t, "event: next", line(t, events))
		require.Contains(t, line(t, events), `"errors"`)
		require.Equal(t, "event: complete", line(t, events))
	}
	subscribe(t, conn, "1", anvils)
	require.Equal(t, "next", heard(t, conn).Type)
	subscribe(t, conn, "2", anvils)
	m := heard(t, conn)
	require.Equal(t, "error", m.Type)
	require.Contains(t, string(m.Payload), `"RATE_LIMITED"`)

	for _, method := range []string{http.MethodPost, http.MethodGet} {
		response, body := l.events(t, method, anvils)
		require.Equal(t, http.StatusTooManyRequests, response.StatusCode, "the client has as many as it may")
		require.Equal(t, "application/json", response.Header.Get("Content-Type"))
		require.Equal(t, "1", response.Header.Get("Retry-After"))
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		require.Contains(t, string(text), "--subscriptions-client")
		require.Contains(t, string(text), `"RATE_LIMITED"`)
	}
	require.NoError(t, wsjson.Write(t.Context(), conn, map[string]string{"type": "complete", "id": "1"}))
	require.Equal(t, "complete", heard(t, conn).Type)
	testkit.Eventually(t, 0, l.open.Load)

	const sells = `mutation { stockTransact(input: {changes: [{productId: "anvil", action: INCREMENT, quantity: 1}]}) { userErrors { message } } }`
	response, _ := l.events(t, http.MethodGet, sells)
	require.Equal(t, http.StatusMethodNotAllowed, response.StatusCode, "nothing is written by GET, events or not")
	require.Equal(t, http.MethodPost, response.Header.Get("Allow"))
	response, _ = l.events(t, http.MethodHead, anvils)
	require.Equal(t, http.StatusNotAcceptable, response.StatusCode)
	_, events := l.events(t, http.MethodPost, sells)
	require.Equal(t, "event: next", line(t, events))
	require.Equal(t, `data: {"data":{"stockTransact":{"userErrors":[]}}}`, line(t, events))
}

// GET opens an event stream too, for the browser's EventSource.
func TestServerSentEventsByGET(t *testing.T) {
	t.Parallel()
	l := newStreams(t, func(*transport.StreamConfig) {})
	response, events := l.events(t, http.MethodGet, anvils)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	require.Equal(t, "event: next", line(t, events))
	require.Regexp(t, `^data: {"data":{"stockChanged":{"available":\d+}}}$`, line(t, events))
	_, err := l.store.Stock.Transact(t.Context(), "test", []stock.Change{{ProductID: "anvil", Action: stock.StockSet, Quantity: 77}})
	require.NoError(t, err)
	require.Equal(t, "event: next", line(t, events))
	require.Equal(t, `data: {"data":{"stockChanged":{"available":77}}}`, line(t, events))
	require.NoError(t, response.Body.Close())
}

// A client that accepts JSON too gets the events of a subscription, which is prepared once.
func TestSubscriptionIsPreparedOnce(t *testing.T) {
	t.Parallel()
	counted := &outcomes{counts: map[string]int{}}
	l := newStreams(t, func(*transport.StreamConfig) {}, transport.CountDocuments(counted.count))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, pipeURL, strings.NewReader(string(store.Encode(map[string]string{"query": anvils, "documentId": document.Hash(anvils)}))))
	require.NoError(t, err)
	r.Header = http.Header{"Accept": {"application/json, text/event-stream"}, "Content-Type": {"application/json"}, "Authorization": {l.token}}
	response, err := l.client.Do(r)
	require.NoError(t, err)
	events := bufio.NewReader(response.Body)
	require.Equal(t, "event: next", line(t, events))
	require.Contains(t, line(t, events), `"available":`)
	require.NoError(t, response.Body.Close())
	require.Equal(t, map[string]int{"sent": 1}, counted.counts)
}

// When a token expires, event streams end with an error, and WebSockets close with a code that
// makes clients reconnect.
func TestStreamsEndWhenTheirTokenExpires(t *testing.T) {
	t.Parallel()
	l := newStreams(t, func(*transport.StreamConfig) {})
	_, events := l.events(t, http.MethodPost, anvils)
	require.Equal(t, "event: next", line(t, events))
	line(t, events)
	conn := l.socket(t)
	subscribe(t, conn, "1", anvils)
	require.Equal(t, "next", heard(t, conn).Type)
	l.clock.Advance(time.Hour + 2*time.Minute) // clocks may be a minute apart
	var err error
	for err == nil {
		_, _, err = conn.Read(t.Context())
	}
	require.EqualValues(t, 4403, websocket.CloseStatus(err), "%v", err)
	require.Equal(t, "event: next", line(t, events))
	told := line(t, events)
	require.Contains(t, told, `"code":"UNAUTHENTICATED"`)
	require.Contains(t, told, "expired")
	require.Equal(t, "event: complete", line(t, events))
}
