package e2e

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"
)

// eventsOf is a server-sent event stream.
type eventsOf struct {
	*http.Response
	lines *bufio.Scanner
}

// events opens a stream.
func (s *serverProcess) events(t testing.TB, token, query string) *eventsOf {
	t.Helper()
	return streaming(t, s.url, token, map[string]any{"query": query})
}

func streaming(t testing.TB, url, token string, operation map[string]any) *eventsOf {
	t.Helper()
	return streamingBy(t, http.DefaultClient, url, token, operation)
}

func streamingBy(t testing.TB, client *http.Client, url, token string, operation map[string]any) *eventsOf {
	t.Helper()
	body, err := json.Marshal(operation)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/graphql", strings.NewReader(string(body)))
	require.NoError(t, err)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := client.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return &eventsOf{response, bufio.NewScanner(response.Body)}
}

// next returns the next event and its data; end of stream is empty.
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

// want reads events until one has the wanted data.
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

// message is a message of graphql-transport-ws.
type message struct {
	Type    string `json:"type"`
	ID      string `json:"id,omitempty"`
	Payload any    `json:"payload,omitempty"`
}

// open opens a WebSocket, and sends connection_init unless greeting is nil.
func (s *serverProcess) open(t testing.TB, greeting map[string]any, headers ...string) *websocket.Conn {
	t.Helper()
	header := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	conn, response, err := websocket.Dial(t.Context(), s.url+"/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
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

// closes returns the code that closes a WebSocket.
func closes(t testing.TB, conn *websocket.Conn) int {
	t.Helper()
	for {
		if _, _, err := conn.Read(t.Context()); err != nil {
			return int(websocket.CloseStatus(err))
		}
	}
}

func bearing(token string) map[string]any { return map[string]any{"authorization": "Bearer " + token} }
