package server

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Limits are the limits that Serve and ConcurrencyLimiter enforce. 0 means no limit, unless the help
// of the flag says otherwise. Without a limit, a single client can take all connections, memory or
// processor time with requests that are slow, large or many. The files that enforce a limit name the attack.
type Limits struct {
	HeaderTime   time.Duration `placeholder:"DURATION" default:"10s" help:"Time limit to read the headers of a request, and for the TLS handshake. 0 means no limit."`
	BodyTime     time.Duration `placeholder:"DURATION" default:"30s" help:"Time limit to read the body of a request. 0 means no limit."`
	RequestTime  time.Duration `placeholder:"DURATION" default:"1m" help:"Time limit to process a request, including reading its body. The server then cancels it and returns 503. 0 means no limit."`
	ResponseTime time.Duration `placeholder:"DURATION" default:"30s" help:"Time limit to send a response, plus 1s for each 32 KiB. 0 means no limit."`
	IdleTime     time.Duration `placeholder:"DURATION" default:"2m" help:"How long a connection stays open without a request. 0 means no limit."`

	HeaderBytes int   `placeholder:"BYTES" default:"65536" help:"Maximum size of the headers of a request; about 4 KiB more is tolerated. Larger requests get 431. 0 means the default."`
	BodyBytes   int64 `placeholder:"BYTES" default:"4194304" help:"Maximum size of the body of a request. Larger requests get 413. 0 means the default."`

	ResponseMemory int `placeholder:"MIB" default:"256" help:"Memory for responses that wait for slow clients, in MiB. Above it, the server closes the slowest connections. This does not limit one response; see --document-response-bytes. 0 means no limit."`

	Requests          int           `placeholder:"N" default:"0" help:"Maximum number of reads that run at once, and of writes that run at once. Further requests queue. 0 means 16 reads and 32 writes per CPU core."`
	RequestsWaiting   int           `placeholder:"N" default:"1000" help:"Maximum number of reads in the queue, and of writes. Further requests get 503."`
	RequestWait       time.Duration `placeholder:"DURATION" default:"300ms" help:"How long a request may wait in the queue. Then it gets 503."`
	RequestsExpensive int           `placeholder:"N" default:"0" help:"Maximum number of expensive requests that run at once: those with a response above 1 MiB, or a cost above a tenth of --document-cost. Events of subscriptions may use half as many again. 0 means 2 per CPU core, at most 8."`

	Connections        int `placeholder:"N" default:"0" help:"Maximum number of open connections. Above it, the server closes idle ones; without idle ones, new connections get 503, except on /healthz and /readyz. 0 means as many as the limit of open files allows, at most 4096."`
	StreamsConnection  int `placeholder:"N" default:"100" help:"Maximum number of concurrent requests on one HTTP/2 connection. 0 means the default."`
	ConnectionsAddress int `placeholder:"N" default:"0" help:"Maximum number of connections from one IP address (one /64 of IPv6). Does not apply to --trusted-proxy. 0 means a quarter of --connections."`
}

const (
	// maxConnections is the largest default of Limits.Connections.
	maxConnections = 4096

	// otherOpenFiles is reserved for open files other than connections: the database and the log.
	otherOpenFiles = 96

	// responseRate is the rate at which a client must read a response beyond ResponseTime, in bytes per second.
	responseRate = 32 << 10

	// responseGrace is how long a response may be written before it can be evicted.
	responseGrace = 2 * time.Second
)

// Check returns an error for a negative limit.
func (l Limits) Check() error {
	for _, limit := range []struct {
		flag  string
		value time.Duration
	}{{"header-time", l.HeaderTime}, {"body-time", l.BodyTime}, {"request-time", l.RequestTime}, {"response-time", l.ResponseTime}, {"idle-time", l.IdleTime}, {"request-wait", l.RequestWait}} {
		if limit.value < 0 {
			return fmt.Errorf("--%s must be 0 or more, got %s", limit.flag, limit.value)
		}
	}
	if l.Requests < 0 || l.RequestsWaiting < 0 || l.RequestsExpensive < 0 {
		return errors.New("--requests, --requests-waiting and --requests-expensive must be 0 or more")
	}
	if l.Connections < 0 || l.ConnectionsAddress < 0 || l.ResponseMemory < 0 {
		return errors.New("--connections, --connections-address and --response-memory must be 0 or more")
	}
	if l.StreamsConnection < 0 {
		return errors.New("--streams-connection must be 1 or more, or 0 for the default")
	}
	if l.HeaderBytes < 0 || l.BodyBytes < 0 {
		return errors.New("--header-bytes and --body-bytes must be 1 or more, or 0 for the default")
	}
	return nil
}

// writeTime limits writes outside of single responses, such as TLS handshakes and what WithFront writes. It is 0, no limit, if
// either time is: net/http counts it from the end of the headers, so it must cover both.
func (l Limits) writeTime() time.Duration {
	if l.RequestTime == 0 || l.ResponseTime == 0 {
		return 0
	}
	return l.RequestTime + l.ResponseTime
}

// connections returns the number of connections allowed, in total and per address, in a process that may
// have so many open files.
func (l Limits) connections(openFiles int) (total, perAddress int) {
	total = cmp.Or(l.Connections, max(16, min(maxConnections, openFiles-otherOpenFiles-reserveConns)))
	return total, cmp.Or(l.ConnectionsAddress, max(8, total/4))
}

// Admin returns the limits of the admin listener: 32 connections.
func (l Limits) Admin() Limits {
	l.Connections, l.ConnectionsAddress = 32, 32
	return l
}
