package transport

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"portico/graph"
	"portico/graph/executor"
	"portico/internal/auth"
)

// handler serves GraphQL over HTTP. It passes WebSockets and server-sent events to its streamServer.
type handler struct {
	exec    *executor.Executor
	streams *streamServer
}

// StreamConfig configures server-sent events and WebSockets. Functions may be nil.
type StreamConfig struct {
	PerConnection int           // operations at once on a connection; 0 for no limit
	PerClient     int           // of a client, over all connections; 0 for no limit
	PerAddress    int           // of an address, for clients without a secret; 0 is a tenth of PerClient
	MaxMessage    int64         // bytes of a WebSocket message
	WriteTimeout  time.Duration // of an event; 0 for none
	InitTimeout   time.Duration // until a WebSocket sends connection_init
	PingInterval  time.Duration // a client that does not answer two pings is gone

	AllowOrigin        func(*http.Request) bool              // whether another origin may open a WebSocket; nil allows none
	Draining           func(context.Context) <-chan struct{} // closed when the request's server shuts down
	CountSubscriptions func(change int)                      // called when operations of streams begin (1) and end (-1)
	OnOperation        func(context.Context)                 // called before each operation of a stream
}

// DefaultStreamConfig returns the defaults of StreamConfig.
func DefaultStreamConfig() StreamConfig {
	return StreamConfig{PerConnection: 50, PerClient: 5000, MaxMessage: 1 << 20,
		WriteTimeout: 30 * time.Second, InitTimeout: 10 * time.Second, PingInterval: 15 * time.Second}
}

// streamServer runs the operations of streams. With a method CreateOperationContext it is a graphql.GraphExecutor. Each event of a
// subscription is an operation of its own, with the view of its time.
type streamServer struct {
	StreamConfig
	*handler
	resolver *graph.Resolver

	mu          sync.Mutex
	connections map[*connection]struct{}
	operations  map[quotaKey]int // running operations of a client, and of an address of it
	checking    bool             // a timer for checkConnections is set
}

// quotaKey is a client, or one address of a client without a secret.
type quotaKey struct{ client, address string }

// connection is a WebSocket, or a request that is answered by server-sent events.
type connection struct {
	server  *streamServer
	ctx     context.Context
	end     context.CancelCauseFunc
	address netip.Addr // of the client

	// Guarded by server.mu.
	quota      quotaKey
	token      *auth.TokenWatch // nil without a valid token
	operations int              // running operations
}
