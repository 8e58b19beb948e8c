package server

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Limits are the limits that Serve and ConcurrencyLimiter enforce. 0 means no limit, unless the help
// of the flag says otherwise.
type Limits struct {
	HeaderTime  time.Duration `placeholder:"DURATION" default:"10s" help:"How long a request's header may take to come, and a TLS handshake; 0 is any time. Default: ${default}."`
	BodyTime    time.Duration `placeholder:"DURATION" default:"30s" help:"How long a request's body may take to come; 0 is any time. Default: ${default}."`
	RequestTime time.Duration `placeholder:"DURATION" default:"1m" help:"How long a request may be worked on, its body included; then its work ends, and it is answered 503. 0 is any time. Default: ${default}."`
	AnswerTime  time.Duration `placeholder:"DURATION" default:"30s" help:"How long an answer may take to be read, and a second more for each 32 KiB of it; 0 is any time. Default: ${default}."`
	IdleTime    time.Duration `placeholder:"DURATION" default:"2m" help:"How long a connection may wait for its next request; 0 is any time. Default: ${default}."`

	HeaderBytes int   `placeholder:"BYTES" default:"65536" help:"How many bytes a request's header may have, and some 4 KiB more; beyond that it is answered 431. 0 is the default. Default: ${default}, which is 64 KiB."`
	BodyBytes   int64 `placeholder:"BYTES" default:"4194304" help:"How many bytes a request's body may have; beyond that it is answered 413. 0 is the default. Default: ${default}, which is 4 MiB."`

	AnswerMemory int `placeholder:"MIB" default:"256" help:"How many MiB of answers may wait for slow readers; beyond that the slowest are cut off. 0 is any. Default: ${default}."`

	Requests          int           `placeholder:"N" default:"0" help:"How many requests that read may be worked on at once, and as many that write beside them; others wait their turn. 0 is 16 for each core. Default: ${default}."`
	RequestsWaiting   int           `placeholder:"N" default:"1000" help:"How many requests of each kind may wait their turn; beyond that they are answered 503. Default: ${default}."`
	RequestWait       time.Duration `placeholder:"DURATION" default:"300ms" help:"How long a request may wait its turn; then it is answered 503. Default: ${default}."`
	RequestsExpensive int           `placeholder:"N" default:"0" help:"How many expensive requests may run at once: those with a response of more than 1 MiB or a cost of more than a tenth of --document-cost; events of streams have half as many more. 0 is 2 for each core, at most 8. Default: ${default}."`

	Connections        int `placeholder:"N" default:"0" help:"How many connections there may be at once. Beyond that those that wait for a request are closed; then /healthz and /readyz are answered, and else 503. 0 is what the limit of open files leaves, at most 4096. Default: ${default}."`
	StreamsConnection  int `placeholder:"N" default:"100" help:"How many requests a connection of HTTP/2 may have at once, as it is told; one more is refused. 0 is the default. Default: ${default}."`
	ConnectionsAddress int `placeholder:"N" default:"0" help:"How many of the connections one address may have, an IPv6 /64 being one and a --trusted-proxy being none; 0 is a quarter. Default: ${default}."`
}

const (
	// maxConnections is the largest default of Limits.Connections.
	maxConnections = 4096

	// otherOpenFiles is reserved for open files other than connections: the database and the log.
	otherOpenFiles = 96

	// responseRate is the rate at which a client must read a response beyond AnswerTime, in bytes per second.
	responseRate = 32 << 10

	// responseGrace is how long a response may be written before it can be evicted.
	responseGrace = 2 * time.Second
)

// Check returns an error for a negative limit.
func (l Limits) Check() error {
	for _, limit := range []struct {
		flag  string
		value time.Duration
	}{{"header-time", l.HeaderTime}, {"body-time", l.BodyTime}, {"request-time", l.RequestTime}, {"answer-time", l.AnswerTime}, {"idle-time", l.IdleTime}, {"request-wait", l.RequestWait}} {
		if limit.value < 0 {
			return fmt.Errorf("--%s must be 0 or more, got %s", limit.flag, limit.value)
		}
	}
	if l.Requests < 0 || l.RequestsWaiting < 0 || l.RequestsExpensive < 0 {
		return errors.New("--requests, --requests-waiting and --requests-expensive must be 0 or more")
	}
	if l.Connections < 0 || l.ConnectionsAddress < 0 || l.AnswerMemory < 0 {
		return errors.New("--connections, --connections-address and --answer-memory must be 0 or more")
	}
	if l.StreamsConnection < 0 {
		return errors.New("--streams-connection must be at least 1; 0 is the default")
	}
	if l.HeaderBytes < 0 || l.BodyBytes < 0 {
		return errors.New("--header-bytes and --body-bytes must be at least 1; 0 is the default")
	}
	return nil
}

// writeTime limits writes outside of responses, such as TLS handshakes.
func (l Limits) writeTime() time.Duration {
	if l.RequestTime == 0 || l.AnswerTime == 0 {
		return 0
	}
	return l.RequestTime + l.AnswerTime
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
