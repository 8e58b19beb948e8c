package transport

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/store"
)

// checkInterval is how often connections are closed whose token is no longer valid, or whose server
// shuts down.
const checkInterval = 500 * time.Millisecond

// minPerAddress is how many operations an address may have even if its client is at PerClient, so that
// a few addresses cannot exclude all others.
const minPerAddress = 10

// Close codes of graphql-transport-ws and of WebSockets.
const (
	closeGoingAway    = 1001
	closeTryLater     = 1013
	closeBadRequest   = 4400
	closeUnauthorized = 4401 // the client was revoked
	closeForbidden    = 4403 // a new token may help
	closeNoInit       = 4408
	closeSameID       = 4409
	closeSecondInit   = 4429
)

type connectionKey struct{}

// closeReason is why the server closes a connection.
type closeReason struct {
	code   int
	reason string
	err    error // last error of a server-sent event stream; nil to cut the stream, so that the client reconnects
}

func (e *closeReason) Error() string { return e.reason }

// closeReasonOf returns why the server ended a context; nil if it did not.
func closeReasonOf(ctx context.Context) *closeReason {
	var reason *closeReason
	errors.As(context.Cause(ctx), &reason)
	return reason
}

// open adds the connection that a request begins. The caller must close it.
func (s *streamServer) open(ctx context.Context, req *reqctx.Request) *connection {
	req.Streaming = true
	conn := &connection{server: s, address: req.Address}
	conn.ctx, conn.end = context.WithCancelCause(ctx)
	conn.ctx = context.WithValue(conn.ctx, connectionKey{}, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections[conn] = struct{}{}
	if !s.checking {
		s.checking = true
		time.AfterFunc(checkInterval, s.checkConnections)
	}
	return conn
}

// setToken sets the token without which the connection is closed, and the quota of its client: of the client, or of the address
// too if the client has no secret. Without a token, the quota is that of the address.
func (c *connection) setToken(ctx context.Context, token *auth.TokenWatch) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.token = token
	principal := auth.PrincipalFrom(ctx)
	if principal != nil {
		c.quota.client = principal.ClientID
	}
	if principal.QuotaClientID() == "" {
		c.quota.address = reqctx.Network(c.address)
	}
}

// close ends the context of a connection and removes it. Its operations end with the context.
func (c *connection) close() {
	c.end(nil)
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	delete(c.server.connections, c)
}

// checkConnections checks all connections, and sets a timer to check again while there are any.
func (s *streamServer) checkConnections() {
	s.mu.Lock()
	tokens := make(map[*connection]*auth.TokenWatch, len(s.connections))
	for conn := range s.connections {
		tokens[conn] = conn.token
	}
	s.checking = len(tokens) > 0
	if s.checking {
		defer time.AfterFunc(checkInterval, s.checkConnections)
	}
	s.mu.Unlock()
	for conn, token := range tokens {
		if s.isDraining(conn.ctx) {
			conn.end(&closeReason{closeGoingAway, "The server is shutting down. Reconnect.", nil})
		} else if token != nil {
			if err := token.Check(conn.ctx); err != nil && conn.ctx.Err() == nil {
				conn.end(tokenCloseReason(err, token.Expired()))
			}
		}
	}
}

// isDraining reports whether the server of a connection shuts down.
func (s *streamServer) isDraining(ctx context.Context) bool {
	if s.Draining == nil {
		return false
	}
	select {
	case <-s.Draining(ctx):
		return true
	default:
		return false
	}
}

// tokenCloseReason returns the reason for an error of a token. A renewable token has expired.
func tokenCloseReason(err error, renewable bool) *closeReason {
	first := store.AsErrors(err)[0]
	code := closeUnauthorized
	switch {
	case first.Code != store.Unauthenticated:
		code = closeTryLater
	case renewable:
		code = closeForbidden
	}
	return &closeReason{code, model.Message(first), first}
}

// reserve counts an operation of a connection, or returns an error if there are too many: of the connection, of the address if the
// quota has one, or of the client. An address has minPerAddress in any case.
func (s *streamServer) reserve(conn *connection) *gqlerror.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	tooMany := func(owner string, limit int, flag string) *gqlerror.Error {
		return &gqlerror.Error{Message: fmt.Sprintf("This %s has %d subscriptions, which is the limit. End one first. (Flag %s)", owner, limit, flag),
			Extensions: map[string]any{"code": store.RateLimited}}
	}
	client := quotaKey{client: conn.quota.client} // is conn.quota, unless that has an address
	switch {
	case s.PerConnection > 0 && conn.operations >= s.PerConnection:
		return tooMany("connection", s.PerConnection, "--subscriptions-connection")
	case conn.quota != client && s.PerAddress > 0 && s.operations[conn.quota] >= s.PerAddress:
		return tooMany("address", s.PerAddress, "--subscriptions-address")
	case conn.quota != client && s.operations[conn.quota] < minPerAddress:
	case s.PerClient > 0 && s.operations[client] >= s.PerClient:
		return tooMany("client", s.PerClient, "--subscriptions-client")
	}
	conn.operations++
	s.count(conn.quota, 1)
	return nil
}

// release ends what reserve counted.
func (s *streamServer) release(conn *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	conn.operations--
	s.count(conn.quota, -1)
}

// count adds change to the operations of a client, and of its address if the quota has one.
func (s *streamServer) count(quota quotaKey, change int) {
	for _, key := range []quotaKey{quota, {client: quota.client}} {
		if s.operations[key] += change; s.operations[key] == 0 {
			delete(s.operations, key)
		}
		if quota.address == "" {
			break
		}
	}
	if s.CountSubscriptions != nil {
		s.CountSubscriptions(change)
	}
}
