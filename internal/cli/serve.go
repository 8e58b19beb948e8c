package cli

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"portico/internal/auth"
	"portico/internal/web/accesslog"
	"portico/internal/web/middleware"
	"portico/internal/web/server"
)

// Serve is the flags of the server, but for the bounds of documents.
type Serve struct {
	Addr        string   `placeholder:"HOST:PORT" default:"127.0.0.1:8080" help:"Where to listen; :8080 is every interface, port 0 any free one. Default: ${default}."`
	TLSCert     string   `type:"path" placeholder:"FILE" help:"The certificate to speak HTTPS with, PEM, its chain behind it; read again when it changes. Default: none, which is HTTP."`
	TLSKey      string   `type:"path" placeholder:"FILE" help:"The private key of --tls-cert, PEM. Default: none."`
	Demo        bool     `help:"Serve a small coffee shop to try things out: on this machine only, and in a temporary store unless a database is named. Default: no."`
	CORSOrigins []string `name:"cors-origin" sep:"," placeholder:"ORIGIN" help:"An origin whose pages may use the service, such as https://shop.example or https://*.shop.example, or * for all; repeat it, or separate by commas. Default: none."`
	AdminAddr   string   `placeholder:"HOST:PORT" help:"Where to answer /metrics, which needs no token, /healthz, /readyz and /debug/pprof/; best 127.0.0.1:9090 or an inner network's. Default: nowhere."`
	TokenIssuer string   `placeholder:"NAME" default:"portico" help:"The issuer that tokens name, the same on all servers of one database. Default: ${default}."`

	OIDCIssuer   string `name:"oidc-issuer" placeholder:"URL" help:"An OpenID Connect issuer whose tokens are good too, such as https://id.example. Their scopes are those of their claims scope and scp that are known here. Default: none."`
	OIDCAudience string `name:"oidc-audience" placeholder:"NAME" help:"The audience that the tokens of --oidc-issuer must be meant for; needed with it. Default: none."`

	TrustedProxies   []string `name:"trusted-proxy" sep:"," placeholder:"CIDR" help:"A network or address of proxies in front of this server, such as 10.0.0.0/8, whose X-Forwarded-For tells where a request came from; repeat it, or separate by commas. Default: none, the header is not believed."`
	TokenRateClient  uint32   `group:"Bounds" placeholder:"N" default:"600" help:"How many tokens a minute can be asked for by a client's secret; 0 is any number. With --demo any, unless given. Default: ${default}."`
	TokenRateAddress uint32   `group:"Bounds" placeholder:"N" default:"120" help:"How many tokens a minute can be asked for from one address, an IPv6 /64 being one; 0 is any number. With --demo any, unless given. Default: ${default}."`
	CodeRateClient   uint32   `group:"Bounds" placeholder:"N" default:"3000" help:"How many promotion codes a minute a client can check or redeem; 0 is any number. With --demo any, unless given. Default: ${default}."`
	CodeRateAddress  uint32   `group:"Bounds" placeholder:"N" default:"3000" help:"How many promotion codes a minute can be checked or redeemed from one address; 0 is any number. With --demo any, unless given. Default: ${default}."`

	TrustedDocuments     string `type:"path" placeholder:"FILE" help:"A manifest of GraphQL documents, which can be asked for by their ids: a JSON object of documents by id, as Relay and GraphQL Code Generator write it, or Apollo's. Default: none."`
	TrustedDocumentsMode string `enum:"off,log,enforce" placeholder:"MODE" default:"enforce" help:"What becomes of documents that --trusted-documents does not have: off runs them; log runs them, and tells each in the log; enforce refuses them. Default: ${default}."`

	Executor         string `enum:"plan,gqlgen" placeholder:"NAME" default:"plan" help:"What runs GraphQL queries: plan, which compiles each document once; or gqlgen, whose executor is slower and answers the same. Default: ${default}."`
	AnswerCacheBytes int64  `placeholder:"BYTES" default:"-1" help:"Memory for finished answers about what is published, and for fragments of them, in bytes; 0 keeps none, so that each is made anew; -1 is an eighth of the memory that the process can have, at most 96 MiB. Default: ${default}."`
	StockCacheBytes  uint64 `placeholder:"BYTES" default:"100663296" help:"Memory for the stock of all products, in bytes, some 90 a product, so that it is read without the database; 0 is none, and too little is as good as none. Default: ${default}, which is 96 MiB."`

	SubscriptionsConnection int `group:"Bounds" placeholder:"N" default:"50" help:"How many GraphQL subscriptions a connection may have at once; 0 is any number. Default: ${default}."`
	SubscriptionsClient     int `group:"Bounds" placeholder:"N" default:"5000" help:"How many GraphQL subscriptions a client may have at once, over all of its connections to this server; 0 is any number. Default: ${default}."`
	SubscriptionsAddress    int `group:"Bounds" placeholder:"N" default:"0" help:"How many GraphQL subscriptions of a client one address may have at once, an IPv6 /64 being one, where the token was got without the client's secret: an implicit or a shopper's token, or none. 0 is a tenth of --subscriptions-client. Default: ${default}."`

	MessageBytes int64 `group:"Bounds" placeholder:"BYTES" default:"1048576" help:"How many bytes a message may have that comes over a WebSocket; a longer one ends it. 0 is the default. Default: ${default}, which is 1 MiB."`
	JobWorkers   int   `placeholder:"N" default:"2" help:"How many jobs a server does at once, so that a long one does not hold up the publication behind it. Default: ${default}."`

	Waiting
	KeysClient      int   `group:"Bounds" placeholder:"N" default:"100000" help:"How many idempotency keys of a client are kept; the oldest go first, and where those of an hour are too many, new ones are 429. 0 is the default. Default: ${default}."`
	KeysClientBytes int64 `group:"Bounds" placeholder:"BYTES" default:"268435456" help:"How many bytes of what was answered under a client's idempotency keys are kept, in the same way. 0 is the default. Default: ${default}, which is 256 MiB."`

	Slow              time.Duration `placeholder:"DURATION" default:"1s" help:"From how long on a request is logged as slow, with its statements and the time they took; 0 logs none. Default: ${default}."`
	MetricsOperations int           `placeholder:"N" default:"100" help:"How many GraphQL operations metrics tell apart by name, beside trusted ones: the first that clients with a token ask for. Default: ${default}."`

	server.Limits `group:"Bounds"`

	Linger time.Duration `placeholder:"DURATION" default:"5s" help:"How long to go on answering after /readyz has turned 503 at shutdown, so that a load balancer looks away first, and connections in use end. With --demo none, unless given. Default: ${default}."`
	Sealing
	Keeping
	Common
}

// Help is the long description.
func (*Serve) Help() string {
	return "Ready is told by one line of the log, with the address, and by /readyz. SIGINT and SIGTERM let requests under way end, and lose none; a second one hurries, a third one ends at once. SIGHUP has certificate files read again."
}

// Validate checks what kong cannot.
func (c *Serve) Validate() error {
	for _, origin := range c.CORSOrigins {
		if err := middleware.CheckOrigin(origin); err != nil {
			return usage("--cors-origin: %s", err)
		}
	}
	if _, err := middleware.ParseProxies(c.TrustedProxies); err != nil {
		return usage("--trusted-proxy must be a network such as 10.0.0.0/8: %s", err)
	}
	if min(c.SubscriptionsConnection, c.SubscriptionsClient, c.SubscriptionsAddress) < 0 {
		return usage("--subscriptions-connection, --subscriptions-client and --subscriptions-address must be 0 or more")
	}
	if c.Slow < 0 || c.MetricsOperations < 0 {
		return usage("--slow and --metrics-operations must be 0 or more")
	}
	if c.MessageBytes < 0 || c.JobWorkers < 1 {
		return usage("--message-bytes must be 0 or more, and --job-workers at least 1")
	}
	if c.KeysClient < 0 || c.KeysClientBytes < 0 {
		return usage("--keys-client and --keys-client-bytes must be 1 or more; 0 is the default")
	}
	if err := c.Waiting.check(); err != nil {
		return err
	}
	if err := c.Limits.Check(); err != nil {
		return usage("%s", err)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return usage("--tls-cert and --tls-key go together")
	}
	switch outside := c.Outside(); {
	case outside == nil && c.OIDCAudience != "":
		return usage("--oidc-audience needs --oidc-issuer")
	case outside != nil:
		if err := outside.Check(c.TokenIssuer); err != nil {
			return usage("--oidc-issuer and --oidc-audience: %s", err)
		}
	}
	if err := c.Retention().Check(); err != nil {
		return usage("%s", err)
	}
	return c.Common.Validate()
}

// Outside is the issuer that is trusted beside our own, if any.
func (c *Serve) Outside() *auth.OutsideIssuer {
	if c.OIDCIssuer == "" {
		return nil
	}
	return &auth.OutsideIssuer{URL: c.OIDCIssuer, Audience: c.OIDCAudience}
}

// ease is what the demo is easier about, unless flags say otherwise, by the
// flags' names: it serves this machine only.
func (c *Serve) ease(command *kong.Context) (eased []string) {
	for flag, ease := range map[string]func(){
		"token-rate-client": func() { c.TokenRateClient = 0 }, "token-rate-address": func() { c.TokenRateAddress = 0 },
		"code-rate-client": func() { c.CodeRateClient = 0 }, "code-rate-address": func() { c.CodeRateAddress = 0 },
		"cors-origin": func() { c.CORSOrigins = middleware.LocalOrigins() }, "linger": func() { c.Linger = 0 },
	} {
		if !Given(command, flag) {
			ease()
			eased = append(eased, flag)
		}
	}
	return eased
}

// Relax eases the demo, and gives it a store that clean removes, unless a
// database is named.
func (c *Serve) Relax(command *kong.Context) (clean func(), err error) {
	c.ease(command)
	if Given(command, "database-url") {
		return func() {}, nil
	}
	directory, err := os.MkdirTemp("", "portico-demo-*")
	if err != nil {
		return nil, err
	}
	c.DatabaseURL, c.Synchronous = "file:"+filepath.Join(directory, "portico.db"), "OFF"
	c.KeyFile = filepath.Join(directory, "portico.key")
	return func() { os.RemoveAll(directory) }, nil
}

// InForce are the server's settings. The demo's store has no name before it is
// there.
func (c *Serve) InForce(command *kong.Context) []Setting {
	var eased []string
	if c.Demo {
		if eased = c.ease(command); !Given(command, "database-url") {
			c.DatabaseURL, c.Synchronous = "", "OFF"
			eased = append(eased, "database-url", "synchronous")
		}
	}
	list := Settings(command)
	for i, setting := range list {
		if slices.Contains(eased, setting.Name) {
			list[i].From = "--demo"
		}
	}
	return list
}

// Logs is the server's log, and the lines that the access log shares with it.
func (c *Serve) Logs(streams Streams) (*slog.Logger, *accesslog.LineWriter) {
	lines := accesslog.NewLineWriter(streams.Err)
	if log := c.Log(streams); !LogsJSON(log) {
		return accesslog.NewLogger(log), lines // on a terminal, which the lines are not
	}
	streams.Err = lines
	return accesslog.NewLogger(c.Log(streams)), lines
}

// Listen opens a door; the demo's only to this machine, or it says elsewhere.
func (c *Serve) Listen(flag, addr string, elsewhere error) (net.Listener, error) {
	address, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, usage("%s must be HOST:PORT: %v", flag, err)
	}
	if c.Demo && !address.IP.IsLoopback() {
		return nil, usage("%s", elsewhere)
	}
	return net.ListenTCP("tcp", address)
}
