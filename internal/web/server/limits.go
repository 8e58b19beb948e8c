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
			return fmt.Errorf("--%s must be 0 or more, not %s", time.flag, time.Duration)
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
