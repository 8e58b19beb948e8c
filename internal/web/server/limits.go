package server

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Limits are what a server gives to those who ask; 0 is no bound, but where it
// says otherwise. Serve holds them.
type Limits struct {
	HeaderTime  time.Duration `placeholder:"DURATION" default:"10s" help:"Time limit to read the headers of a request, and for the TLS handshake. 0 means no limit."`
	BodyTime    time.Duration `placeholder:"DURATION" default:"30s" help:"Time limit to read the body of a request. 0 means no limit."`
	RequestTime time.Duration `placeholder:"DURATION" default:"1m" help:"Time limit to process a request, including reading its body. The server then cancels it and returns 503. 0 means no limit."`
	AnswerTime  time.Duration `placeholder:"DURATION" default:"30s" help:"Time limit to send a response, plus 1s for each 32 KiB. 0 means no limit."`
	IdleTime    time.Duration `placeholder:"DURATION" default:"2m" help:"How long a connection stays open without a request. 0 means no limit."`

	HeaderBytes int   `placeholder:"BYTES" default:"65536" help:"Maximum size of the headers of a request; about 4 KiB more is tolerated. Larger requests get 431. 0 means the default."`
	BodyBytes   int64 `placeholder:"BYTES" default:"4194304" help:"Maximum size of the body of a request. Larger requests get 413. 0 means the default."`

	AnswerMemory int `placeholder:"MIB" default:"256" help:"Memory for responses that wait for slow clients, in MiB. Above it, the server closes the slowest connections. 0 means no limit."`

	Requests          int           `placeholder:"N" default:"0" help:"Maximum number of reads that run at once, and of writes that run at once. Further requests queue. 0 means 16 per CPU core."`
	RequestsWaiting   int           `placeholder:"N" default:"1000" help:"Maximum number of reads in the queue, and of writes. Further requests get 503."`
	RequestWait       time.Duration `placeholder:"DURATION" default:"300ms" help:"How long a request may wait in the queue. Then it gets 503."`
	RequestsExpensive int           `placeholder:"N" default:"0" help:"Maximum number of expensive requests that run at once: those with a response above 1 MiB, or a cost above a tenth of --document-cost. Events of subscriptions may use half as many again. 0 means 2 per CPU core, at most 8."`

	Connections        int `placeholder:"N" default:"0" help:"Maximum number of open connections. Above it, the server closes idle ones; without idle ones, new connections get 503, except on /healthz and /readyz. 0 means as many as the limit of open files allows, at most 4096."`
	StreamsConnection  int `placeholder:"N" default:"100" help:"Maximum number of concurrent requests on one HTTP/2 connection. 0 means the default."`
	ConnectionsAddress int `placeholder:"N" default:"0" help:"Maximum number of connections from one IP address (one /64 of IPv6). Does not apply to --trusted-proxy. 0 means a quarter of --connections."`
}

const (
	// maxConnections is the most that 0 stands for.
	maxConnections = 4096

	// otherOpenFiles is how many files a server has open beside its connections:
	// the database's, the log, and some air.
	otherOpenFiles = 96

	// responseRate is how fast an answer must be read beyond AnswerTime, in bytes
	// a second.
	responseRate = 32 << 10

	// responseGrace is how long an answer is left alone even if too many wait.
	responseGrace = 2 * time.Second
)

// What is bounded and no flag, for these reasons:
//
//   - what both contracts promise, so that clients rely on it: pages of 100, offsets of 10,000, ids, texts and lists of an input, the
//     terms and values of a filter and its 64 KiB, codes and changes of stock of one request (store, and the rooms of it);
//   - what is told: 20 errors of 1,000 bytes (graph/fault.go), lines of the log, labels of metrics (metrics.go, gauges.go);
//   - what does not pass the proxies in front either: a token of 8 KiB, a request for one of 16 KiB (internal/auth);
//   - 100 tags of a shopper's context, further ones of which are passed over and nothing is refused (graph/operation.go).

// Check tells what no bound can be.
func (b Limits) Check() error {
	for _, time := range []struct {
		flag string
		time.Duration
	}{{"header-time", b.HeaderTime}, {"body-time", b.BodyTime}, {"request-time", b.RequestTime}, {"answer-time", b.AnswerTime}, {"idle-time", b.IdleTime}, {"request-wait", b.RequestWait}} {
		if time.Duration < 0 {
			return fmt.Errorf("--%s must be 0 or more, got %s", time.flag, time.Duration)
		}
	}
	if b.Requests < 0 || b.RequestsWaiting < 0 || b.RequestsExpensive < 0 {
		return errors.New("--requests, --requests-waiting and --requests-expensive must be 0 or more")
	}
	if b.Connections < 0 || b.ConnectionsAddress < 0 || b.AnswerMemory < 0 {
		return errors.New("--connections, --connections-address and --answer-memory must be 0 or more")
	}
	if b.StreamsConnection < 0 {
		return errors.New("--streams-connection must be at least 1; 0 is the default")
	}
	if b.HeaderBytes < 0 || b.BodyBytes < 0 {
		return errors.New("--header-bytes and --body-bytes must be at least 1; 0 is the default")
	}
	return nil
}

// writeTime bounds what is written before and beside answers.
func (b Limits) writeTime() time.Duration {
	if b.RequestTime == 0 || b.AnswerTime == 0 {
		return 0
	}
	return b.RequestTime + b.AnswerTime
}

// connections is how many there may be, of which each address may have some,
// where the process may have so many files open.
func (b Limits) connections(files int) (all, perAddress int) {
	all = cmp.Or(b.Connections, max(16, min(maxConnections, files-otherOpenFiles-reserveConns)))
	return all, cmp.Or(b.ConnectionsAddress, max(8, all/4))
}

// Admin are the bounds of a listener for a few, beside the one for all.
func (b Limits) Admin() Limits {
	b.Connections, b.ConnectionsAddress = 32, 32
	return b
}
