package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
)

const (
	socketProtocol = "graphql-transport-ws"
	maxOperationID = 128 // bytes of an operation's id
	maxCloseReason = 123 // bytes of why a socket is closed
)

// isWebSocketUpgrade tells whether a request asks for a WebSocket.
func isWebSocketUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// websocket serves a WebSocket, by the library's transport, for as long as it is
// open.
func (l *streamServer) websocket(w http.ResponseWriter, r *http.Request) {
	if fault := l.checkUpgrade(r); fault != nil {
		fault.write(w)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})                                                                 // it has no end of its own
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{socketProtocol}, InsecureSkipVerify: true}) // checkUpgrade saw to the origin
	if err != nil {
		return // Accept said so
	}
	if known := reqctx.From(r.Context()); known != nil {
		known.Streaming = true
	}
	line := l.open(r.Context())
	defer line.close()
	conn.SetReadLimit(l.Message)
	s := &socket{line: line, conn: conn, ids: map[string]struct{}{}}
	defer s.finish()
	transport.Websocket{
		Implementation: s, InitFunc: func(ctx context.Context, sent transport.InitPayload) (context.Context, *transport.InitPayload, error) {
			ctx, err := line.init(ctx, r, sent)
			return ctx, nil, err
		},
		InitTimeout: l.Begin, PingPongInterval: l.Ping,
	}.Do(w, r.WithContext(line.ctx), socketExecutor{l, s})
}

// socketExecutor is live for one WebSocket, which it tells of the operations
// that never begin.
type socketExecutor struct {
	*streamServer
	socket *socket
}

// CreateOperationContext implements graphql.GraphExecutor. The transport calls
// it for the message that it read last.
func (e socketExecutor) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	operation, faults := e.streamServer.CreateOperationContext(ctx, params)
	if faults != nil {
		e.socket.mu.Lock()
		defer e.socket.mu.Unlock()
		e.socket.rejectedID = e.socket.lastID
	}
	return operation, faults
}

// checkUpgrade turns away pages that CORS would, and other protocols.
func (l *streamServer) checkUpgrade(r *http.Request) *httpError {
	if origin := r.Header.Get("Origin"); origin != "" {
		page, err := url.Parse(origin)
		own := err == nil && strings.EqualFold(page.Host, r.Host)
		if !own && (l.Origin == nil || !l.Origin(r)) {
			return &httpError{http.StatusForbidden, "", store.Forbidden, "Pages of this origin may not open a WebSocket here; --cors-origin names those that may."}
		}
	}
	offered := strings.FieldsFunc(strings.Join(r.Header["Sec-Websocket-Protocol"], ","), func(c rune) bool { return c == ',' || c == ' ' })
	if !slices.Contains(offered, socketProtocol) {
		return &httpError{http.StatusBadRequest, "", store.Invalid, "A WebSocket here speaks " + socketProtocol + ": offer it by the header Sec-WebSocket-Protocol."}
	}
	return nil
}

// init reads connection_init: a token, and the headers of a shopper that a
// browser cannot send with a WebSocket. They win over those of the request.
func (l *connection) init(ctx context.Context, r *http.Request, sent transport.InitPayload) (context.Context, error) {
	header := r.Header.Clone()
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		value, isText := sent[name].(string)
		if isText && slices.ContainsFunc(strings.Split(opctx.Vary, ", "), func(known string) bool { return strings.EqualFold(known, name) }) {
			header.Set(name, value)
		}
	}
	var held *auth.TokenWatch
	if tokens := l.live.resolver.Tokens; tokens != nil && header.Get("Authorization") != "" {
		var err error
		if ctx, held, err = tokens.Authenticate(ctx, header.Get("Authorization")); err != nil {
			refusal := tokenCloseReason(err, true)
			return transport.AppendCloseReason(transport.WithWebsocketCloseCode(ctx, refusal.code), refusal.reason), refusal
		}
	}
	l.setToken(ctx, held)
	asks := (&http.Request{Header: header}).WithContext(ctx)
	return opctx.With(ctx, &opctx.Operation{Shopper: opctx.ShopperOf(asks)}), nil
}

// socket is a WebSocket as the library's transport takes it. It holds what the
// protocol asks for and the transport does not: an operation's id is used once
// at a time, a connection is begun once, and each close has its code. What is
// not read in time ends the connection.
type socket struct {
	line *connection
	conn *websocket.Conn

	mu          sync.Mutex
	initialized bool
	ids         map[string]struct{} // of operations that run
	lastID      string              // the last of them to be sent
	rejectedID  string              // the one that does not begin, until that is told; empty for none
	readTimer   *time.Timer         // until the client must have answered; nil for none
	closed      chan struct{}       // closed once the closing is over; nil before it begins
}

// Accept implements transport.WebsocketImplementation: it is open already.
func (s *socket) Accept(http.ResponseWriter, *http.Request, transport.WebsocketAcceptOptions) (transport.WebsocketConn, error) {
	return s, nil
}

// Subprotocol implements transport.WebsocketConn.
func (s *socket) Subprotocol() string { return s.conn.Subprotocol() }

// NextReader implements transport.WebsocketConn.
func (s *socket) NextReader() (int, io.Reader, error) {
	kind, text, err := s.conn.Read(context.WithoutCancel(s.line.ctx)) // closing is told, and ends it
	if err != nil {
		return 0, nil, errors.Join(transport.ErrWebsocketClosed, err)
	}
	text, _ = store.ExactMembers(text, reflect.TypeFor[sentMessage]())
	text, fault := s.accept(kind, text)
	if fault != nil {
		_ = s.WriteClose(fault.code, fault.reason)
		return 0, nil, transport.ErrWebsocketClosed
	}
	return int(kind), bytes.NewReader(text), nil
}

// sentMessage has the names of a message's members, of a subscribe message's
// payload too.
type sentMessage struct {
	ID      string        `json:"id"`
	Type    string        `json:"type"`
	Payload clientRequest `json:"payload"`
}

// accept returns a message as the transport is to read it, or refuses one that the
// protocol does not allow, or that holds too much.
func (s *socket) accept(kind websocket.MessageType, text []byte) ([]byte, *closeReason) {
	var message struct {
		ID      string          `json:"id"`
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if kind != websocket.MessageText || store.CheckJSON(text) != nil || json.Unmarshal(text, &message) != nil || len(message.ID) > maxOperationID {
		return nil, &closeReason{code: closeBadRequest, reason: "The message is not one of " + socketProtocol + "."}
	}
	if err := limits.CheckJSON(message.Payload, s.line.live.documents.Bounds); err != nil {
		return nil, &closeReason{code: closeBadRequest, reason: err.Detail}
	}
	if message.Type == "subscribe" {
		var err error
		if text, err = withDocumentID(text, message.ID, message.Payload); err != nil {
			return nil, &closeReason{code: closeBadRequest, reason: "The payload of a subscribe message must be a JSON object, and documentId a string."}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, runs := s.ids[message.ID]
	switch {
	case message.Type == "connection_init" && s.initialized:
		return nil, &closeReason{code: closeBegunTwice, reason: "Too many initialisation requests"}
	case message.Type == "connection_init":
		s.initialized = true
	case !s.initialized:
		return nil, &closeReason{code: closeUnauthorized, reason: "Unauthorized: send connection_init first"}
	case message.Type == "subscribe" && message.ID == "":
		return nil, &closeReason{code: closeBadRequest, reason: "A subscribe message needs an id."}
	case message.Type == "subscribe" && runs:
		return nil, &closeReason{code: closeSameID, reason: "Subscriber for " + message.ID + " already exists"}
	case message.Type == "subscribe":
		s.ids[message.ID], s.lastID = struct{}{}, message.ID
	}
	return text, nil
}

// withDocumentID is a subscribe message whose payload names its document where the
// transport reads it, which passes over documentId.
func withDocumentID(text []byte, id string, payload json.RawMessage) ([]byte, error) {
	var sent struct {
		DocumentID any `json:"documentId"`
	}
	if json.Unmarshal(payload, &sent) != nil || sent.DocumentID == nil {
		return text, nil // the transport says what else is wrong
	}
	var q clientRequest
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	if err := decoder.Decode(&q); err != nil {
		return nil, err
	}
	q.identify()
	return json.Marshal(map[string]any{"type": "subscribe", "id": id, "payload": q})
}

// nextSuffix ends every message after which its operation goes on.
var nextSuffix = []byte(`"type":"next"}`)

// WriteJSON implements transport.WebsocketConn.
func (s *socket) WriteJSON(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if text = s.outgoing(text); text == nil {
		return nil
	}
	ctx := context.WithoutCancel(s.line.ctx)
	if within := s.line.live.Within; within > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, within)
		defer end()
	}
	return s.conn.Write(ctx, websocket.MessageText, text)
}

// outgoing is a message as the client is to hear it, which an operation may end
// with; nil for one that it is not to hear. An operation that does not begin
// has an error, and nothing else, where the transport has a result and an end.
func (s *socket) outgoing(text []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rejectedID == "" && bytes.HasSuffix(text, nextSuffix) {
		return text
	}
	var message struct {
		ID      string          `json:"id"`
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	if json.Unmarshal(text, &message) != nil || message.ID == "" {
		return text
	}
	if message.Type == "next" && message.ID == s.rejectedID {
		var response struct{ Errors json.RawMessage }
		if json.Unmarshal(message.Payload, &response) != nil {
			return text
		}
		s.rejectedID, message.Type, message.Payload = "", "error", response.Errors
		text, _ = json.Marshal(message) // of what was JSON
	}
	if message.Type == "complete" || message.Type == "error" {
		if _, runs := s.ids[message.ID]; !runs {
			return nil // it has ended with an error
		}
		delete(s.ids, message.ID)
	}
	return text
}

// WriteClose implements transport.WebsocketConn. It does not wait for the
// client, which may be gone.
func (s *socket) WriteClose(code int, message string) error {
	s.setReadTimeout(time.Time{})
	if reason := closeReasonOf(s.line.ctx); reason != nil {
		code, message = reason.code, reason.reason
	} else if code == transport.WebsocketCloseProtocolError && !s.isInitialized() {
		code, message = closeNotBegun, "Connection initialisation timeout"
	}
	for len(message) > maxCloseReason || !utf8.ValidString(message) {
		message = message[:min(maxCloseReason, len(message)-1)]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil {
		return nil
	}
	closed := make(chan struct{})
	s.closed = closed
	go func() {
		defer close(closed)
		_ = s.conn.Close(websocket.StatusCode(code), message)
	}()
	return nil
}

func (s *socket) isInitialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.initialized
}

// Close implements transport.WebsocketConn.
func (s *socket) Close() error {
	s.mu.Lock()
	closing := s.closed != nil
	s.mu.Unlock()
	if closing { // which closes it
		return nil
	}
	return s.conn.CloseNow()
}

// SetReadDeadline implements transport.WebsocketReadDeadliner.
func (s *socket) SetReadDeadline(deadline time.Time) error {
	s.setReadTimeout(deadline)
	return nil
}

func (s *socket) setReadTimeout(deadline time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readTimer != nil {
		s.readTimer.Stop()
		s.readTimer = nil
	}
	if !deadline.IsZero() {
		s.readTimer = time.AfterFunc(time.Until(deadline), func() { _ = s.conn.CloseNow() })
	}
}

// finish waits until the connection is closed, for the transport may leave it
// open.
func (s *socket) finish() {
	s.setReadTimeout(time.Time{})
	_ = s.Close()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed != nil {
		<-closed
	}
}
