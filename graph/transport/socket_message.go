package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/coder/websocket"

	"portico/store"
)

// socketMessage is a message of a client.
type socketMessage struct {
	ID      string
	Type    string
	Payload json.RawMessage // an object, or nil
}

// messageTypes are the types of messages that a client may send.
var messageTypes = []string{"complete", "connection_init", "ping", "pong", "subscribe"}

// payloadMembers are the members of a subscribe message's payload, and the first byte of their values.
var payloadMembers = map[string]byte{"query": '"', "operationName": '"', "documentId": '"', "variables": '{', "extensions": '{'}

// parseMessage returns a message, or what is wrong with it: other types, missing members, and members of another JSON type.
func parseMessage(kind websocket.MessageType, text []byte) (message socketMessage, problem string) {
	var members map[string]json.RawMessage
	if kind != websocket.MessageText || json.Unmarshal(text, &members) != nil || members == nil {
		return message, "A message must be a JSON object in a text frame."
	}
	if store.CheckJSON(text) != nil {
		return message, "A message must be valid UTF-8 without half surrogate pairs."
	}
	for _, member := range []struct {
		name string
		into *string
	}{{"type", &message.Type}, {"id", &message.ID}} {
		if value, sent := members[member.name]; sent && (value[0] != '"' || json.Unmarshal(value, member.into) != nil) {
			return message, fmt.Sprintf("The member %s of a message must be a string.", member.name)
		}
	}
	message.Payload = notNull(members["payload"])
	switch {
	case message.Type == "":
		return message, "A message must have a type."
	case !slices.Contains(messageTypes, message.Type):
		return message, "The type of a message must be complete, connection_init, ping, pong or subscribe."
	case len(message.ID) > maxOperationID:
		return message, fmt.Sprintf("The id of a message must have at most %d bytes.", maxOperationID)
	case message.ID == "" && (message.Type == "subscribe" || message.Type == "complete"):
		return message, fmt.Sprintf("A %s message must have an id.", message.Type)
	case message.Payload != nil && message.Payload[0] != '{' && message.Type != "complete":
		return message, fmt.Sprintf("The payload of a %s message must be a JSON object.", message.Type)
	case message.Type == "subscribe":
		return message, payloadProblem(message.Payload)
	}
	return message, ""
}

// payloadProblem returns what is wrong with the payload of a subscribe message.
func payloadProblem(payload json.RawMessage) string {
	var members map[string]json.RawMessage
	if payload == nil || json.Unmarshal(payload, &members) != nil {
		return "A subscribe message must have a payload with the member query."
	}
	document := false
	for _, name := range slices.Sorted(maps.Keys(payloadMembers)) {
		value, first := notNull(members[name]), payloadMembers[name]
		switch {
		case value == nil:
		case value[0] != first && first == '"':
			return fmt.Sprintf("payload.%s of a subscribe message must be a string.", name)
		case value[0] != first:
			return fmt.Sprintf("payload.%s of a subscribe message must be a JSON object.", name)
		case name == "query" || name == "documentId" || name == "extensions":
			document = true
		}
	}
	if !document {
		return "The payload of a subscribe message must have the member query."
	}
	return ""
}

// notNull returns a value without surrounding space; nil for null and an absent one.
func notNull(value json.RawMessage) json.RawMessage {
	if value = bytes.TrimSpace(value); len(value) == 0 || string(value) == "null" {
		return nil
	}
	return value
}
