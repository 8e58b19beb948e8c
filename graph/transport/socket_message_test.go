package transport_test

import (
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	transportx "portico/graph/transport"
)

// A message that the protocol does not have closes the connection with 4400, and the reason says what is wrong.
func TestInvalidSocketMessagesClose(t *testing.T) {
	t.Parallel()
	l := newStreams(t, func(*transportx.StreamConfig) {})
	const noObject, noQuery = "A message must be a JSON object in a text frame.", "The payload of a subscribe message must have the member query."
	for text, reason := range map[string]string{
		`{`:                                  noObject,
		`[]`:                                 noObject,
		`null`:                               noObject,
		`"subscribe"`:                        noObject,
		`{"type":"ping"} {"type":"ping"}`:    noObject,
		`{}`:                                 "A message must have a type.",
		`{"id":"1","payload":{}}`:            "A message must have a type.",
		`{"type":null}`:                      "The member type of a message must be a string.",
		`{"type":5}`:                         "The member type of a message must be a string.",
		`{"type":"start","id":"1"}`:          "The type of a message must be complete, connection_init, ping, pong or subscribe.",
		`{"type":"next","id":"1"}`:           "The type of a message must be complete, connection_init, ping, pong or subscribe.",
		`{"type":"ping","payload":"\ud800"}`: "A message must be valid UTF-8 without half surrogate pairs.",
		`{"type":"ping","payload":[]}`:       "The payload of a ping message must be a JSON object.",
		`{"type":"pong","payload":1}`:        "The payload of a pong message must be a JSON object.",
		`{"type":"complete"}`:                "A complete message must have an id.",
		`{"type":"complete","id":""}`:        "A complete message must have an id.",
		`{"type":"subscribe","payload":{"query":"{ __typename }"}}`:                  "A subscribe message must have an id.",
		`{"type":"subscribe","id":1,"payload":{"query":"{ __typename }"}}`:           "The member id of a message must be a string.",
		`{"type":"subscribe","id":"1"}`:                                              "A subscribe message must have a payload with the member query.",
		`{"type":"subscribe","id":"1","payload":null}`:                               "A subscribe message must have a payload with the member query.",
		`{"type":"subscribe","id":"1","payload":"{ __typename }"}`:                   "The payload of a subscribe message must be a JSON object.",
		`{"type":"subscribe","id":"1","payload":{}}`:                                 noQuery,
		`{"type":"subscribe","id":"1","payload":{"query":null,"variables":{}}}`:      noQuery,
		`{"type":"subscribe","id":"1","payload":{"query":["{ __typename }"]}}`:       "payload.query of a subscribe message must be a string.",
		`{"type":"subscribe","id":"1","payload":{"query":"{a}","variables":[]}}`:     "payload.variables of a subscribe message must be a JSON object.",
		`{"type":"subscribe","id":"1","payload":{"query":"{a}","operationName":{}}}`: "payload.operationName of a subscribe message must be a string.",
		`{"type":"subscribe","id":"1","payload":{"query":"{a}","extensions":"x"}}`:   "payload.extensions of a subscribe message must be a JSON object.",
		`{"type":"subscribe","id":"1","payload":{"documentId":7}}`:                   "payload.documentId of a subscribe message must be a string.",
	} {
		conn := l.socket(t)
		require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(text)))
		_, _, err := conn.Read(t.Context())
		var closed websocket.CloseError
		require.ErrorAs(t, err, &closed, text)
		require.EqualValues(t, 4400, closed.Code, "%s: %s", text, closed.Reason)
		require.Equal(t, reason, closed.Reason, text)
	}
	for _, init := range []string{`{"type":"connection_init","payload":[]}`, `{"type":"connection_init","payload":"x"}`} {
		conn := l.dial(t)
		require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(init)))
		_, _, err := conn.Read(t.Context())
		require.EqualValues(t, 4400, websocket.CloseStatus(err), "%s: %v", init, err)
	}
	conn := l.socket(t)
	require.NoError(t, conn.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"ping"}`)))
	_, _, err := conn.Read(t.Context())
	require.EqualValues(t, 4400, websocket.CloseStatus(err), "%v", err)
}

// What the protocol allows to be absent, null or unknown may be.
func TestValidSocketMessagesAreAnswered(t *testing.T) {
	t.Parallel()
	l := newStreams(t, func(*transportx.StreamConfig) {})
	conn := l.socket(t)
	for _, text := range []string{`{"type":"ping"}`, `{"type":"ping","payload":null}`, `{"type":"ping","payload":{"a":1},"more":[]}`} {
		require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(text)))
		require.Equal(t, "pong", heard(t, conn).Type, text)
	}
	for _, payload := range []string{`{"query":"{ __typename }","variables":null,"operationName":null,"extensions":null}`, `{"query":"{ __typename }","more":1}`, ` { "query" : "{ __typename }" } `} {
		require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"subscribe","id":"1","payload":`+payload+`}`)))
		require.Equal(t, "next", heard(t, conn).Type, payload)
		require.Equal(t, "complete", heard(t, conn).Type, payload)
	}
}
