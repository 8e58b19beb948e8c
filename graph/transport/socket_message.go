package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/coder/websocket"

	"portico/graph/executor"
	"portico/graph/limits"
	"portico/store"
)

// socketMessage is a message of a client.
type socketMessage struct {
	ID      string
	Type    string
	Payload json.RawMessage   // an object, or nil
	Request *executor.Request // of a subscribe message
}

// messageTypes are the types of messages that a client may send.
var messageTypes = []string{"complete", "connection_init", "ping", "pong", "subscribe"}

// parseMessage returns a message, or what is wrong with it: too many values, other types, missing members, and members of another
// JSON type. The message refers to the text.
func parseMessage(kind websocket.MessageType, text []byte, config limits.Config) (message socketMessage, problem string) {
	if err := limits.CheckJSON(text, config); err != nil {
		return message, err.Detail
	}
	sent, err := readMembers(text, config, "payload", "payload.variables", "payload.extensions")
	switch tooMany := new(store.Error); {
	case errors.As(err, &tooMany):
		return message, tooMany.Detail
	case store.EncodingError(err) != nil:
		return message, "A message must be valid UTF-8 without half surrogate pairs."
	case err != nil || kind != websocket.MessageText:
		return message, "A message must be a JSON object in a text frame."
	}
	for _, member := range []struct {
		name string
		into *string
	}{{"type", &message.Type}, {"id", &message.ID}} {
		switch value := sent[member.name]; {
		case value == nil:
		case value[0] != '"':
			return message, fmt.Sprintf("The member %s of a message must be a string.", member.name)
		case limits.MinLength(value) > maxOperationID || len(store.TextOf(value)) > maxOperationID:
			return message, fmt.Sprintf("The %s of a message must have at most %d bytes.", member.name, maxOperationID)
		default:
			*member.into = store.TextOf(value)
		}
	}
	message.Payload = sent.value("payload")
	switch {
	case message.Type == "":
		return message, "A message must have a type."
	case !slices.Contains(messageTypes, message.Type):
		return message, "The type of a message must be complete, connection_init, ping, pong or subscribe."
	case message.ID == "" && (message.Type == "subscribe" || message.Type == "complete"):
		return message, fmt.Sprintf("A %s message must have an id.", message.Type)
	case message.Payload != nil && message.Payload[0] != '{' && message.Type != "complete":
		return message, fmt.Sprintf("The payload of a %s message must be a JSON object.", message.Type)
	case message.Type != "subscribe":
		return message, ""
	case message.Payload == nil:
		return message, "A subscribe message must have a payload with the member query."
	}
	payload, wrong := sent.below("payload"), ""
	switch message.Request, wrong = newRequest(payload, config); {
	case wrong != "" && requestMembers[wrong] == '"':
		return message, fmt.Sprintf("payload.%s of a subscribe message must be a string.", wrong)
	case wrong != "":
		return message, fmt.Sprintf("payload.%s of a subscribe message must be a JSON object.", wrong)
	case payload.value("query") == nil && payload.value("documentId") == nil && payload.value("extensions") == nil:
		return message, "The payload of a subscribe message must have the member query."
	}
	return message, ""
}

// forTransport returns the message for the library's transport, which reads it again, and sends the payload of a ping back.
func (m *socketMessage) forTransport() []byte {
	text := []byte(`{"type":` + strconv.Quote(m.Type) + `,"id":`)
	text = append(store.AppendString(text, m.ID), `,"payload":`...)
	if m.Type == "ping" && m.Payload != nil {
		return append(append(text, m.Payload...), '}')
	}
	return append(text, "{}}"...)
}
