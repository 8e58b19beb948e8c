package cli

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/alecthomas/kong"

	"portico/internal/auth"
	"portico/internal/web/accesslog"
	"portico/internal/web/middleware"
	"portico/internal/web/server"
)

// Serve are the flags of the server, except the limits of GraphQL documents.
type Serve struct {
	Addr           string        `placeholder:"HOST:PORT" default:"127.0.0.1:8080" help:"Address to listen on. :8080 listens on all interfaces. Port 0 picks a free port."`
	Demo           bool          `help:"Serve a small coffee shop to try portico: on this machine only, and in a temporary database unless --database-url is set."`
	TLSCert        string        `type:"path" placeholder:"FILE" help:"TLS certificate chain, PEM. Reloaded when the file changes. Without it, the server speaks plain HTTP."`
	TLSKey         string        `type:"path" placeholder:"FILE" help:"Private key of --tls-cert, PEM."`
	CORSOrigins    []string      `name:"cors-origin" sep:"," placeholder:"ORIGIN" help:"Origin allowed to call the API from a browser, for example https://shop.example, https://*.shop.example, or * for all. Can be repeated, or separated by commas."`
	TrustedProxies []string      `name:"trusted-proxy" sep:"," placeholder:"CIDR" help:"Address or network of a proxy whose X-Forwarded-For header is trusted, for example 10.0.0.0/8. Can be repeated, or separated by commas. Without it, the header is ignored."`
	Linger         time.Duration `placeholder:"DURATION" default:"5s" help:"Time to keep serving after /readyz returns 503 on shutdown, so that load balancers stop sending traffic first. 0s with --demo."`
	JobWorkers     int           `hidden:"" placeholder:"N" default:"2" help:"Number of jobs that run at once, so that a long one does not block a publication."`

	OIDCIssuer   string `group:"auth" name:"oidc-issuer" placeholder:"URL" help:"OpenID Connect issuer whose tokens are accepted, for example https://id.example. Scopes come from the claims scope and scp."`
	OIDCAudience string `group:"auth" name:"oidc-audience" placeholder:"NAME" help:"Audience that tokens of --oidc-issuer must have. Required with --oidc-issuer."`
	SealKeyFlags
	TokenIssuer string `group:"auth" hidden:"" placeholder:"NAME" default:"portico" help:"Issuer (iss) of the tokens that the server creates. Must be the same on all servers of a database."`

	TrustedDocuments     string `group:"graphql" type:"path" placeholder:"FILE" help:"Manifest of GraphQL documents that clients can request by id: a JSON object of documents by id, as Relay and GraphQL Code Generator write it, or a manifest of Apollo."`
	TrustedDocumentsMode string `group:"graphql" enum:"off,log,enforce" placeholder:"MODE" default:"enforce" help:"How to treat documents that are not in the manifest: off (run), log (run and log) or enforce (reject)."`
	Executor             string `group:"graphql" hidden:"" enum:"plan,gqlgen" placeholder:"NAME" default:"plan" help:"Executor of GraphQL queries: plan compiles each document once; gqlgen is slower and returns the same."`

	ReadDatabaseURL string `group:"database" placeholder:"URL" help:"For serve on PostgreSQL only. Standby to read published catalogs from, once it has replayed them: postgres://user@host:5432/database. Everything else, and what the standby cannot return, is read from --database-url."`

	CDNFlags
	PurgeFlags

	ResponseCacheBytes int64  `group:"cache" hidden:"" placeholder:"BYTES" default:"-1" help:"Memory for cached responses. 0 disables the cache. -1 means an eighth of the memory, at most 96 MiB."`
	StockCacheBytes    uint64 `group:"cache" hidden:"" placeholder:"BYTES" default:"100663296" help:"Memory for the stock of all products, about 90 bytes each. Stock that does not fit is read from the database. 0 disables the cache."`

	AdminAddr         string         `group:"observability" placeholder:"HOST:PORT" help:"Address for /metrics, /status, /healthz, /readyz and /debug/pprof/, without authentication, for example 127.0.0.1:9090. Without it, there are no metrics."`
	AccessLog         accesslog.Mode `group:"observability" hidden:"" enum:"off,errors,all" placeholder:"MODE" default:"errors" help:"Which requests to log: off, errors (those with status 400 and higher, at most 1000 a minute, and once a minute the number of all) or all. --slow logs slow requests whatever this is."`
	Slow              time.Duration  `group:"observability" placeholder:"DURATION" default:"1s" help:"Log requests that take at least this long, with their SQL statements. 0 logs none."`
	MetricsOperations int            `group:"observability" hidden:"" placeholder:"N" default:"100" help:"Number of GraphQL operation names in metrics, besides trusted documents. Further names are counted together."`

	server.Limits `group:"http-limits"`

	MessageBytes            int64 `group:"graphql-limits" placeholder:"BYTES" default:"1048576" help:"Maximum size of a WebSocket message from a client. A larger one closes the connection. 0 means the default."`
	SubscriptionsConnection int   `group:"graphql-limits" placeholder:"N" default:"50" help:"Maximum number of GraphQL subscriptions on a connection. 0 means no limit."`
	SubscriptionsClient     int   `group:"graphql-limits" placeholder:"N" default:"5000" help:"Maximum number of GraphQL subscriptions of a client on this server. 0 means no limit."`
	SubscriptionsAddress    int   `group:"graphql-limits" placeholder:"N" default:"0" help:"Maximum number of GraphQL subscriptions of a client from one IP address (one /64 of IPv6), for implicit tokens, shopper tokens and requests without a token. 0 means a tenth of --subscriptions-client."`

	TokenRateClient  uint32 `group:"client-limits" placeholder:"N" default:"600" help:"Maximum number of token requests per minute of a client with a secret. 0 means no limit, as with --demo."`
	TokenRateAddress uint32 `group:"client-limits" placeholder:"N" default:"120" help:"Maximum number of token requests per minute from one IP address (one /64 of IPv6). 0 means no limit, as with --demo."`
	CodeRateClient   uint32 `group:"client-limits" placeholder:"N" default:"3000" help:"Maximum number of promotion codes per minute that a client can check or redeem. 0 means no limit, as with --demo."`
	CodeRateAddress  uint32 `group:"client-limits" placeholder:"N" default:"3000" help:"Maximum number of promotion codes per minute that one IP address can check or redeem. 0 means no limit, as with --demo."`
	KeysClient       int    `group:"client-limits" placeholder:"N" default:"100000" help:"Maximum number of stored idempotency keys of a client. Above it, the oldest are deleted; if they are all from the last hour, new keys get 429. 0 means the default."`
	KeysClientBytes  int64  `group:"client-limits" placeholder:"BYTES" default:"268435456" help:"Maximum size of the responses stored under the idempotency keys of a client, enforced like --keys-client. 0 means the default."`
	QueueFlags

	RetentionFlags
	StoreFlags
}

// Help is the long description.
func (*Serve) Help() string {
	return "When the server is ready, it logs its address, and /readyz returns 200. " +
		"SIGINT and SIGTERM shut it down: requests in flight finish first. A second signal shortens the wait, and a third one ends it at once. " +
		"SIGHUP reloads the certificate."
}

// Validate checks what the parser cannot.
func (c *Serve) Validate() error {
	for _, origin := range c.CORSOrigins {
		if err := middleware.CheckOrigin(origin); err != nil {
			return usagef("--cors-origin: %s", err)
		}
	}
	if _, err := middleware.ParseProxies(c.TrustedProxies); err != nil {
		return usagef("--trusted-proxy must be a network such as 10.0.0.0/8: %s", err)
	}
	if min(c.SubscriptionsConnection, c.SubscriptionsClient, c.SubscriptionsAddress) < 0 {
		return usagef("--subscriptions-connection, --subscriptions-client and --subscriptions-address must be 0 or more")
	}
	if c.Slow < 0 || c.MetricsOperations < 0 {
		return usagef("--slow and --metrics-operations must be 0 or more")
	}
	if c.MessageBytes < 0 || c.JobWorkers < 1 {
		return usagef("--message-bytes must be 0 or more, and --job-workers at least 1")
	}
	if c.KeysClient < 0 || c.KeysClientBytes < 0 {
		return usagef("--keys-client and --keys-client-bytes must be 1 or more, or 0 for the default")
	}
	for _, check := range []func() error{c.QueueFlags.check, c.CDNFlags.check, c.PurgeFlags.check} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := c.Limits.Check(); err != nil {
		return usagef("%s", err)
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return usagef("--tls-cert and --tls-key must be set together")
	}
	switch issuer := c.ExternalIssuer(); {
	case issuer == nil && c.OIDCAudience != "":
		return usagef("--oidc-audience needs --oidc-issuer")
	case issuer != nil:
		if err := issuer.Check(c.TokenIssuer); err != nil {
			return usagef("--oidc-issuer %q and --oidc-audience: %s", maskURL(issuer.URL), err)
		}
	}
	if err := c.Retention().Check(); err != nil {
		return usagef("%s", err)
	}
	if c.ReadDatabaseURL != "" && (!isPostgres(c.DatabaseURL) || !isPostgres(c.ReadDatabaseURL)) {
		return usagef("--read-database-url needs PostgreSQL: it and --database-url must start with postgres://")
	}
	return c.StoreFlags.Validate()
}

// ExternalIssuer returns the OpenID Connect issuer; nil for none.
func (c *Serve) ExternalIssuer() *auth.OIDCIssuer {
	if c.OIDCIssuer == "" {
		return nil
	}
	return &auth.OIDCIssuer{URL: c.OIDCIssuer, Audience: c.OIDCAudience}
}

// applyDemoDefaults changes limits, origins and the linger time for the demo, which
// serves this machine only, and returns the names of the flags that it changed. It
// leaves flags that are set.
func (c *Serve) applyDemoDefaults(command *kong.Context) (changed []string) {
	for flag, change := range map[string]func(){
		"token-rate-client": func() { c.TokenRateClient = 0 }, "token-rate-address": func() { c.TokenRateAddress = 0 },
		"code-rate-client": func() { c.CodeRateClient = 0 }, "code-rate-address": func() { c.CodeRateAddress = 0 },
		"cors-origin": func() { c.CORSOrigins = middleware.LocalOrigins() }, "linger": func() { c.Linger = 0 },
	} {
		if !IsSet(command, flag) {
			change()
			changed = append(changed, flag)
		}
	}
	return changed
}

// PrepareDemo applies the defaults of the demo, and unless --database-url is
// set, creates a folder for its database, which remove deletes.
func (c *Serve) PrepareDemo(command *kong.Context) (remove func(), err error) {
	c.applyDemoDefaults(command)
	if IsSet(command, "database-url") {
		return func() {}, nil
	}
	folder, err := os.MkdirTemp("", "portico-demo-*")
	if err != nil {
		return nil, err
	}
	c.DatabaseURL, c.Synchronous = "file:"+filepath.Join(folder, "portico.db"), "OFF"
	c.KeyFile = filepath.Join(folder, "portico.key")
	return func() { os.RemoveAll(folder) }, nil
}

// Effective returns the settings of the server. The database of the demo has no
// name before it exists.
func (c *Serve) Effective(command *kong.Context) []Setting {
	var changed []string
	if c.Demo {
		changed = c.applyDemoDefaults(command)
		if !IsSet(command, "database-url") {
			c.DatabaseURL, c.Synchronous = "", "OFF"
			changed = append(changed, "database-url", "synchronous")
		}
	}
	list := Settings(command)
	for i, setting := range list {
		if slices.Contains(changed, setting.Name) {
			list[i].From = fromDemo
		}
	}
	return list
}

// Logs returns the log of the server, and the line writer that it shares with
// the access log. A log of text writes to a terminal directly.
func (c *Serve) Logs(streams Streams) (*slog.Logger, *accesslog.LineWriter) {
	lines := accesslog.NewLineWriter(streams.Err)
	if log := c.Log(streams); !LogsJSON(log) {
		return accesslog.NewLogger(log), lines
	}
	streams.Err = lines
	return accesslog.NewLogger(c.Log(streams)), lines
}

// Listen opens a listener. It returns notLocal if the demo would listen beyond
// this machine.
func (c *Serve) Listen(flag, addr string, notLocal error) (net.Listener, error) {
	address, err := net.ResolveTCPAddr("tcp", addr)
	if _, noPort := strconv.ParseUint(addr, 10, 16); noPort == nil { // 8080 for :8080
		return nil, usagef("%s must be HOST:PORT, got %s, did you mean 127.0.0.1:%[2]s, or :%[2]s for all interfaces?", flag, addr)
	}
	if err != nil {
		return nil, usagef("%s must be HOST:PORT: %v", flag, err)
	}
	if c.Demo && !address.IP.IsLoopback() {
		return nil, usagef("%s", notLocal)
	}
	return net.ListenTCP("tcp", address)
}
