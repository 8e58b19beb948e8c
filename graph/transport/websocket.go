package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/executor"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
)

const (
	maxOperationID = 128      // bytes
	maxInitMessage = 16 << 10 // bytes of connection_init, which holds a token and the shopper's headers
	maxCloseReason = 123      // bytes, by the WebSocket protocol
)

// isWebSocketUpgrade reports whether a request opens a WebSocket.
func isWebSocketUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// websocket serves a WebSocket by the library's transport until it is closed.
func (s *streamServer) websocket(w http.ResponseWriter, r *http.Request, req *reqctx.Request) {
	if err := s.checkUpgrade(r); err != nil {
		err.write(w)
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	options := &websocket.AcceptOptions{Subprotocols: []string{socketProtocol}, InsecureSkipVerify: true} // checkUpgrade checks the origin
	ws, err := websocket.Accept(w, r, options)
	if err != nil {
		return // Accept has written the response
	}
	conn := s.open(r.Context(), req)
	defer conn.close()
	ws.SetReadLimit(s.MaxMessage)
	socket := &socketConn{conn: conn, ws: ws, ids: map[string]struct{}{}}
	defer socket.finish()
	transport.Websocket{
		Implementation: socket, InitFunc: func(ctx context.Context, _ transport.InitPayload) (context.Context, *transport.InitPayload, error) {
			ctx, err := conn.init(ctx, r, socket.initPayload)
			socket.initPayload = nil
			return ctx, nil, err
		},
		InitTimeout: s.InitTimeout, PingPongInterval: s.PingInterval,
	}.Do(w, r.WithContext(conn.ctx), socketExecutor{s, socket})
}

// socketExecutor is the streamServer of one WebSocket. It tells socketConn which operations were rejected.
type socketExecutor struct {
	*streamServer
	socket *socketConn
}

// CreateOperationContext implements graphql.GraphExecutor. The transport calls it for the last message
// that it read.
func (e socketExecutor) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	e.socket.mu.Lock()
	req := e.socket.lastRequest
	e.socket.lastRequest = nil
	e.socket.mu.Unlock()
	params.Query, params.OperationName, params.Extensions = req.Params.Query, req.Params.OperationName, req.Params.Extensions
	req.Params = *params
	opCtx, errs := e.createOperation(ctx, req)
	if errs != nil {
		e.socket.mu.Lock()
		defer e.socket.mu.Unlock()
		e.socket.rejectedID = e.socket.lastID
	}
	return opCtx, errs
}

// checkUpgrade rejects other origins, unless AllowOrigin allows them, and other protocols.
func (s *streamServer) checkUpgrade(r *http.Request) *httpError {
	if origin := r.Header.Get("Origin"); origin != "" {
		page, err := url.Parse(origin)
		sameOrigin := err == nil && strings.EqualFold(page.Host, r.Host)
		if !sameOrigin && (s.AllowOrigin == nil || !s.AllowOrigin(r)) {
			return &httpError{http.StatusForbidden, "", store.Forbidden, "This origin may not open a WebSocket. The operator of the server can allow it."}
		}
	}
	offered := strings.FieldsFunc(strings.Join(r.Header["Sec-Websocket-Protocol"], ","), func(c rune) bool { return c == ',' || c == ' ' })
	if !slices.Contains(offered, socketProtocol) {
		return &httpError{http.StatusBadRequest, "", store.Invalid, "The WebSocket protocol must be " + socketProtocol + ". Send it in the header Sec-WebSocket-Protocol."}
	}
	return nil
}

// init reads the payload of connection_init: a token and the shopper's headers, which a browser cannot
// send with a WebSocket. They override those of the request.
func (c *connection) init(ctx context.Context, r *http.Request, payload map[string]any) (context.Context, error) {
	header := r.Header.Clone()
	for _, name := range slices.Sorted(maps.Keys(payload)) {
		value, isText := payload[name].(string)
		if isText && slices.ContainsFunc(strings.Split(opctx.Vary, ", "), func(allowed string) bool { return strings.EqualFold(allowed, name) }) {
			header.Set(name, value)
		}
	}
	reject := func(reason *closeReason) (context.Context, error) {
		return transport.AppendCloseReason(transport.WithWebsocketCloseCode(ctx, reason.code), reason.reason), reason
	}
	var token *auth.TokenWatch
	if tokens := c.server.resolver.Tokens; tokens != nil && header.Get("Authorization") != "" {
		var err error
		if ctx, token, err = tokens.Authenticate(ctx, header.Get("Authorization")); err != nil {
			return reject(tokenCloseReason(err, true))
		}
	}
	c.setToken(ctx, token)
	shopper, err := opctx.ShopperOf((&http.Request{Header: header}).WithContext(ctx))
	if err != nil {
		return reject(&closeReason{code: closeBadRequest, reason: err.Error()})
	}
	return opctx.With(ctx, &opctx.Operation{Shopper: shopper}), nil
}

// socketConn is a WebSocket of the library's transport. It enforces the parts of the protocol that the
// transport does not: unique ids of running operations, one connection_init, and the close codes. It
// closes the connection if a write or a ping times out.
type socketConn struct {
	conn *connection
	ws   *websocket.Conn

	initPayload map[string]any // of connection_init until the transport has called init, which keeps what it reads

	mu          sync.Mutex
	initialized bool
	ids         map[string]struct{} // of running operations
	lastID      string              // of the last subscribe message
	lastRequest *executor.Request   // of the last subscribe message, until it is executed
	rejectedID  string              // of a rejected operation until its error is sent; empty for none
	readTimer   *time.Timer         // closes the connection; nil for none
	closed      chan struct{}       // closed when Close has returned; nil before WriteClose
}

// Accept implements transport.WebsocketImplementation. The WebSocket is open already.
func (s *socketConn) Accept(http.ResponseWriter, *http.Request, transport.WebsocketAcceptOptions) (transport.WebsocketConn, error) {
	return s, nil
}

// Subprotocol implements transport.WebsocketConn.
func (s *socketConn) Subprotocol() string { return s.ws.Subprotocol() }

// NextReader implements transport.WebsocketConn.
func (s *socketConn) NextReader() (int, io.Reader, error) {
	kind, text, err := s.ws.Read(context.WithoutCancel(s.conn.ctx)) // WriteClose ends it, with a close code
	if err != nil {
		return 0, nil, errors.Join(transport.ErrWebsocketClosed, err)
	}
	text, reason := s.accept(kind, text)
	if reason != nil {
		_ = s.WriteClose(reason.code, reason.reason)
		return 0, nil, transport.ErrWebsocketClosed
	}
	return int(kind), bytes.NewReader(text), nil
}

// accept returns a message for the transport, or a reason to close if it violates the protocol or a
// limit. It checks the size before connection_init, the number of values, the form, then the order of messages, for which it keeps
// the state: initialized, ids, lastID and lastRequest. It keeps the payload of connection_init for init alone.
func (s *socketConn) accept(kind websocket.MessageType, text []byte) ([]byte, *closeReason) {
	if len(text) > maxInitMessage && !s.isInitialized() {
		return nil, &closeReason{code: closeBadRequest, reason: fmt.Sprintf("connection_init must have at most %d bytes, got %d", maxInitMessage, len(text))}
	}
	message, problem := parseMessage(kind, text, s.conn.server.exec.Limits)
	if problem != "" {
		return nil, &closeReason{code: closeBadRequest, reason: problem}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, runs := s.ids[message.ID]
	switch {
	case message.Type == "connection_init" && s.initialized:
		return nil, &closeReason{code: closeSecondInit, reason: "Too many initialisation requests"}
	case message.Type == "connection_init":
		if len(message.Payload) > 0 && json.Unmarshal(message.Payload, &s.initPayload) != nil {
			return nil, &closeReason{code: closeBadRequest, reason: "The payload of connection_init must be a JSON object."}
		}
		s.initialized = true
	case !s.initialized:
		return nil, &closeReason{code: closeUnauthorized, reason: "Unauthorized: send connection_init first"}
	case message.Type == "subscribe" && runs:
		return nil, &closeReason{code: closeSameID, reason: "Subscriber for " + message.ID + " already exists"}
	case message.Type == "subscribe":
		s.ids[message.ID], s.lastID, s.lastRequest = struct{}{}, message.ID, message.Request
	}
	return message.forTransport(), nil
}

// nextSuffix is the end of a message of the transport after which the operation continues. Such messages need not be decoded.
var nextSuffix = []byte(`"type":"next"}`)

// WriteJSON implements transport.WebsocketConn.
func (s *socketConn) WriteJSON(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if text = s.outgoing(text); text == nil {
		return nil
	}
	ctx := context.WithoutCancel(s.conn.ctx)
	if timeout := s.conn.server.WriteTimeout; timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return s.ws.Write(ctx, websocket.MessageText, text)
}

// outgoing returns the message to send in place of one of the transport; nil for none. A rejected
// operation gets one error message, where the transport sends next and complete.
func (s *socketConn) outgoing(text []byte) []byte {
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
		text, _ = json.Marshal(message) // cannot fail: it was JSON
	}
	if message.Type == "complete" || message.Type == "error" {
		if _, runs := s.ids[message.ID]; !runs {
			return nil // ended by an error message
		}
		delete(s.ids, message.ID)
	}
	return text
}

// WriteClose implements transport.WebsocketConn. The reason for which the server has ended the connection replaces the transport's.
// It does not wait for the client, and does nothing when it is called again.
func (s *socketConn) WriteClose(code int, message string) error {
	s.setReadTimeout(time.Time{})
	if reason := closeReasonOf(s.conn.ctx); reason != nil {
		code, message = reason.code, reason.reason
	} else if code == transport.WebsocketCloseProtocolError && !s.isInitialized() {
		code, message = closeNoInit, "Connection initialisation timeout"
	}
	for len(message) > maxCloseReason || !utf8.ValidString(message) { // cut between characters
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
		_ = s.ws.Close(websocket.StatusCode(code), message)
	}()
	return nil
}

func (s *socketConn) isInitialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.initialized
}

// Close implements transport.WebsocketConn.
func (s *socketConn) Close() error {
	s.mu.Lock()
	closing := s.closed != nil
	s.mu.Unlock()
	if closing {
		return nil
	}
	return s.ws.CloseNow()
}

// SetReadDeadline implements transport.WebsocketReadDeadliner.
func (s *socketConn) SetReadDeadline(deadline time.Time) error {
	s.setReadTimeout(deadline)
	return nil
}

// setReadTimeout closes the connection at a time, in place of the one set before; a zero time removes it.
func (s *socketConn) setReadTimeout(deadline time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readTimer != nil {
		s.readTimer.Stop()
		s.readTimer = nil
	}
	if !deadline.IsZero() {
		s.readTimer = time.AfterFunc(time.Until(deadline), func() { _ = s.ws.CloseNow() })
	}
}

// finish closes the connection, which the transport may leave open, and waits until it is closed.
func (s *socketConn) finish() {
	s.setReadTimeout(time.Time{})
	_ = s.Close()
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed != nil {
		<-closed
	}
}
