// Command portico serves a commerce service over GraphQL and REST, and holds
// the commands that fill it.
package main

//	args --> run --> cli.Main --+--> import, export, publish, codes, client, keys, rekey, migrate, version, schema
//	                            |
//	                            `--> serve
//	                                   |      store.Open      SQLite or PostgreSQL
//	                                   |      cli.Sealing     the key that seals secrets
//	                                   |      auth.New        tokens, signed by keys in the store, or by an outside issuer
//	                                   v
//	request --> RequestID > Address > Recover > auth > AccessLog > Metrics > CORS > Compress > Crowd > LimitBody > Turns > Shopper > Entrance --> mux (app.handler)
//	                                                                                     |
//	     /oauth/access_token  /.well-known/jwks.json  /healthz  /readyz  <---------------+
//	     /  /playground/...  /graphiql/...  /graphql  /schema.graphql  graph  <----------+
//	     /catalog/...  /v2/...                rest --> graph  <--------------------------+
//	     /docs  /openapi.yaml                 rest  <------------------------------------'
//
//	--admin-addr --> /metrics  /healthz  /readyz  /debug/pprof/ (app.adminHandler)

import (
	"cmp"
	"context"
	"crypto/tls"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"portico/graph"
	"portico/internal/answers"
	"portico/internal/auth"
	"portico/internal/cli"
	"portico/internal/demo"
	"portico/internal/web"
	"portico/rest"
	"portico/store"
	"portico/store/seal"
	"portico/store/shop"
)

//go:embed schema.graphqls
var schema string

// maxBody bounds the body of a request, in bytes.
const maxBody = 4 << 20

// jobWorkers is how many jobs a server does at once, so that a long one does
// not hold up the publication behind it.
const jobWorkers = 2

// commands is the grammar of the command line.
type commands struct {
	Serve   serve       `cmd:"" help:"Serve the shop over HTTP."`
	Import  cli.Import  `cmd:"" help:"Import resources and publish the catalogs."`
	Export  cli.Export  `cmd:"" help:"Export all resources to a file."`
	Publish cli.Publish `cmd:"" help:"Publish catalogs."`
	Codes   cli.Codes   `cmd:"" help:"Promotion codes."`
	Client  cli.Client  `cmd:"" help:"API clients."`
	Rekey   cli.Rekey   `cmd:"" help:"Seal the secrets in the database with a new key, while servers go on."`
	Keys    cli.Keys    `cmd:"" help:"The keys that tokens are signed with."`
	Backup  cli.Backup  `cmd:"" help:"Copy a SQLite database to a file, while servers go on."`
	Restore cli.Restore `cmd:"" help:"Put a backup in the place of a SQLite database that is not there."`
	Migrate cli.Migrate `cmd:"" help:"Bring the database to this version's schema."`
	Schema  cli.Schema  `cmd:"" help:"Print the GraphQL schema."`
	Version cli.Version `cmd:"" help:"Print the version."`
}

func main() {
	cli.FitMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once, but serve has it hurry
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program; code is its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	return cli.Main(ctx, &commands{}, args, cli.Streams{In: os.Stdin, Out: stdout, Err: stderr}, cli.SDL(schema))
}

// serve is the server.
type serve struct {
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
	TokenRateClient  uint32   `placeholder:"N" default:"600" help:"How many tokens a minute can be asked for by a client's secret; 0 is any number. With --demo any, unless given. Default: ${default}."`
	TokenRateAddress uint32   `placeholder:"N" default:"120" help:"How many tokens a minute can be asked for from one address, an IPv6 /64 being one; 0 is any number. With --demo any, unless given. Default: ${default}."`
	CodeRateClient   uint32   `placeholder:"N" default:"3000" help:"How many promotion codes a minute a client can check or redeem; 0 is any number. With --demo any, unless given. Default: ${default}."`
	CodeRateAddress  uint32   `placeholder:"N" default:"3000" help:"How many promotion codes a minute can be checked or redeemed from one address; 0 is any number. With --demo any, unless given. Default: ${default}."`

	DocumentTokens int `placeholder:"N" default:"15000" help:"How many tokens a GraphQL document may have. Default: ${default}."`
	DocumentDepth  int `placeholder:"N" default:"20" help:"How deep a GraphQL document may nest fields. Default: ${default}."`
	DocumentCost   int `placeholder:"N" default:"60000" help:"What a GraphQL operation may cost, in fields of its answer; each takes about a kilobyte while it is made. Default: ${default}."`

	TrustedDocuments     string `type:"path" placeholder:"FILE" help:"A manifest of GraphQL documents, which can be asked for by their ids: a JSON object of documents by id, as Relay and GraphQL Code Generator write it, or Apollo's. Default: none."`
	TrustedDocumentsMode string `enum:"off,log,enforce" placeholder:"MODE" default:"enforce" help:"What becomes of documents that --trusted-documents does not have: off runs them; log runs them, and tells each in the log; enforce refuses them. Default: ${default}."`

	Executor         string `enum:"plan,gqlgen" placeholder:"NAME" default:"plan" help:"What runs GraphQL queries: plan, which compiles each document once; or gqlgen, whose executor is slower and answers the same. Default: ${default}."`
	AnswerCacheBytes int64  `placeholder:"BYTES" default:"-1" help:"Memory for finished answers about what is published, and for fragments of them, in bytes; 0 keeps none, so that each is made anew; -1 is an eighth of the memory that the process can have, at most 384 MiB. Default: ${default}."`
	StockCacheBytes  uint64 `placeholder:"BYTES" default:"100663296" help:"Memory for the stock of all products, in bytes, some 90 a product, so that it is read without the database; 0 is none, and too little is as good as none. Default: ${default}, which is 96 MiB."`

	SubscriptionsConnection int `placeholder:"N" default:"50" help:"How many GraphQL subscriptions a connection may have at once; 0 is any number. Default: ${default}."`
	SubscriptionsClient     int `placeholder:"N" default:"5000" help:"How many GraphQL subscriptions a client may have at once, over all of its connections to this server; 0 is any number. Default: ${default}."`

	web.Bounds

	Linger time.Duration `placeholder:"DURATION" default:"5s" help:"How long to go on answering after /readyz has turned 503 at shutdown, so that a load balancer looks away first, and connections in use end. With --demo none, unless given. Default: ${default}."`
	cli.Sealing
	cli.Common
}

// Help is the long description.
func (*serve) Help() string {
	return "Ready is told by one line of the log, with the address, and by /readyz. SIGINT and SIGTERM let requests under way end, and lose none; a second one hurries, a third one ends at once. SIGHUP has certificate files read again."
}

// Validate checks what kong cannot.
func (c *serve) Validate() error {
	for _, origin := range c.CORSOrigins {
		if err := web.CheckOrigin(origin); err != nil {
			return &cli.Usage{Reason: "--cors-origin: " + err.Error()}
		}
	}
	if _, err := web.ParseProxies(c.TrustedProxies); err != nil {
		return &cli.Usage{Reason: "--trusted-proxy must be a network such as 10.0.0.0/8: " + err.Error()}
	}
	if min(c.DocumentTokens, c.DocumentDepth, c.DocumentCost) < 0 {
		return &cli.Usage{Reason: "--document-tokens, --document-depth and --document-cost must be at least 1; 0 is the default"}
	}
	if min(c.SubscriptionsConnection, c.SubscriptionsClient) < 0 {
		return &cli.Usage{Reason: "--subscriptions-connection and --subscriptions-client must be 0 or more"}
	}
	if err := c.Bounds.Check(); err != nil {
		return &cli.Usage{Reason: err.Error()}
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return &cli.Usage{Reason: "--tls-cert and --tls-key go together"}
	}
	switch outside := c.outside(); {
	case outside == nil && c.OIDCAudience != "":
		return &cli.Usage{Reason: "--oidc-audience needs --oidc-issuer"}
	case outside != nil:
		if err := outside.Check(c.TokenIssuer); err != nil {
			return &cli.Usage{Reason: "--oidc-issuer and --oidc-audience: " + err.Error()}
		}
	}
	return c.Common.Validate()
}

// outside is the issuer that is trusted beside our own, if any.
func (c *serve) outside() *auth.OutsideIssuer {
	if c.OIDCIssuer == "" {
		return nil
	}
	return &auth.OutsideIssuer{URL: c.OIDCIssuer, Audience: c.OIDCAudience}
}

// relax is what the demo is easier about: it serves this machine only.
func (c *serve) relax(command *kong.Context) {
	for flag, limit := range map[string]*uint32{
		"token-rate-client": &c.TokenRateClient, "token-rate-address": &c.TokenRateAddress,
		"code-rate-client": &c.CodeRateClient, "code-rate-address": &c.CodeRateAddress,
	} {
		if !cli.Given(command, flag) {
			*limit = 0
		}
	}
	if len(c.CORSOrigins) == 0 {
		c.CORSOrigins = web.LocalOrigins()
	}
	if !cli.Given(command, "linger") {
		c.Linger = 0
	}
}

// Run serves until ctx ends.
func (c *serve) Run(ctx context.Context, streams cli.Streams, command *kong.Context) error {
	log, lines := c.logs(streams)
	defer lines.Flush()
	listener, err := c.listen("--addr", c.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	var admin net.Listener
	if c.AdminAddr != "" {
		if admin, err = c.listen("--admin-addr", c.AdminAddr); err != nil {
			return err
		}
		defer admin.Close()
	}
	if c.Demo && !cli.Given(command, "database-url") {
		directory, err := os.MkdirTemp("", "portico-demo-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(directory)
		c.DatabaseURL, c.Synchronous = "file:"+filepath.Join(directory, "portico.db"), "OFF"
		c.KeyFile = filepath.Join(directory, "portico.key")
	}
	if c.Demo {
		c.relax(command)
	}
	a, err := c.open(ctx, log)
	if err != nil {
		return err
	}
	defer a.store.Close()
	a.lines = lines
	address := "http://" + listener.Addr().String()
	if c.TLSCert != "" {
		certificate, err := web.LoadCertificate(c.TLSCert, c.TLSKey, log)
		if err != nil {
			return err
		}
		address, a.tls, a.certificate = "https://"+listener.Addr().String(), certificate.Config(), certificate
	}
	hurry, ignore := cli.Signals(a.reload)
	defer ignore()
	a.hurry = hurry
	if c.Demo {
		if a.visitor, err = demo.Open(ctx, a.store, a.tokens); err != nil {
			return err
		}
		if err := demo.Welcome(streams.Out, address, a.visitor); err != nil {
			return err
		}
	}
	working, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range jobWorkers {
		workers.Go(func() { a.store.Work(working) })
	}
	defer func() { stop(); workers.Wait() }() // before the store closes
	ready := []any{"address", address, "database", a.store.Describe(), "version", cli.BuildVersion()}
	if admin != nil {
		ready = append(ready, "admin", "http://"+admin.Addr().String())
	}
	debug.FreeOSMemory() // what only the start needed
	log.Info("ready", ready...)
	return a.answer(ctx, listener, admin)
}

// logs is the server's log, and the lines that the access log shares with it.
func (c *serve) logs(streams cli.Streams) (*slog.Logger, *web.Lines) {
	lines := web.NewLines(streams.Err)
	if log := c.Log(streams); !cli.LogsJSON(log) {
		return web.Logger(log), lines // on a terminal, which the lines are not
	}
	streams.Err = lines
	return web.Logger(c.Log(streams)), lines
}

// answer serves until ctx ends, or either listener fails. Without an admin
// listener there is one.
func (a *app) answer(ctx context.Context, listener, admin net.Listener) error {
	proxies, _ := web.ParseProxies(a.TrustedProxies) // Validate saw to it
	main := []web.ServeOption{web.Linger(a.Linger), web.Hurry(a.hurry), web.Within(a.Bounds, proxies...), web.Secured(a.tls)}
	if admin == nil {
		return web.Serve(ctx, listener, a.handler(), a.log, main...)
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error {
		return web.Serve(ctx, admin, a.adminHandler(), a.log, web.Linger(a.Linger), web.Hurry(a.hurry), web.Within(a.Bounds.Inner()))
	})
	both.Go(func() error { return web.Serve(ctx, listener, a.handler(), a.log, main...) })
	return both.Wait()
}

// listen opens a door; the demo's only to this machine.
func (c *serve) listen(flag, addr string) (net.Listener, error) {
	address, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, &cli.Usage{Reason: fmt.Sprintf("%s must be HOST:PORT: %v", flag, err)}
	}
	if c.Demo && !address.IP.IsLoopback() {
		return nil, &cli.Usage{Reason: demo.ErrElsewhere.Error()}
	}
	return net.ListenTCP("tcp", address)
}

// open opens what the handlers work with.
func (c *serve) open(ctx context.Context, log *slog.Logger) (*app, error) {
	trusted, err := c.trustedDocuments()
	if err != nil {
		return nil, err
	}
	sealer, err := c.Sealer(ctx, c.DatabaseURL, log)
	if err != nil {
		return nil, err
	}
	s, err := c.Open(ctx, log, func(config *shop.Config) { config.Sealer, config.StockBytes = sealer, c.StockCacheBytes })
	if err != nil {
		return nil, err
	}
	tokens, err := auth.New(ctx, s, sealer, auth.Options{
		Issuer: c.TokenIssuer, Log: log, Outside: c.outside(),
		Limit: web.NewLimit("asking for tokens", int(c.TokenRateClient), int(c.TokenRateAddress)).Use,
	})
	if err != nil {
		s.Close()
		if errors.Is(err, seal.ErrKey) {
			return nil, cli.WrongKey(err)
		}
		return nil, fmt.Errorf("read the signing keys: %w", err)
	}
	a := &app{serve: c, trusted: trusted, store: s, tokens: tokens, metrics: web.NewMetrics(clientOf), answers: answers.NewRoom(cli.AnswerCacheBytes(c.AnswerCacheBytes)), turns: web.NewTurns(c.Bounds), log: log}
	a.metrics.Turns(a.turns)
	engine, _, _ := strings.Cut(s.Describe(), " ")
	a.metrics.Build(cli.BuildVersion(), engine)
	a.metrics.Database(log, a.measure)
	a.metrics.Parts(s.CacheStats)
	a.metrics.Stock(func() (held, bytes, age, loads float64) {
		stats := s.LiveStockStats()
		return float64(stats.Held), float64(stats.Bytes), stats.Age.Seconds(), float64(stats.Loads)
	})
	a.metrics.Answers(func() (found, made, bytes uint64) {
		stats := a.answers.Stats()
		return stats.Hits, stats.Misses, stats.Bytes
	})
	a.metrics.Fragments(func() (found, made uint64) {
		stats := a.answers.Stats()
		return stats.FragmentsFound, stats.FragmentsMade
	})
	return a, nil
}

// measure is what metrics tell of the database. The pools are told whether or
// not it answers.
func (a *app) measure(ctx context.Context) (is web.Database, err error) {
	for _, p := range a.store.PoolStats() {
		is.Pools = append(is.Pools, web.Pool{Name: p.Pool, InUse: p.InUse, Idle: p.Idle, Most: p.Most, Waits: p.Waits, WaitSeconds: p.WaitSeconds})
	}
	found, err := a.store.Gauges(ctx)
	if err != nil {
		return is, err
	}
	for _, j := range found.Jobs {
		is.Jobs = append(is.Jobs, web.Waiting{Kind: j.Kind, State: j.State, Count: j.Count, Oldest: j.Oldest})
	}
	for _, c := range found.Catalogs {
		is.Catalogs = append(is.Catalogs, web.Aged{Catalog: c.ID, Age: c.Age})
	}
	return is, nil
}

// app is what a running server consists of.
type app struct {
	*serve
	trusted *graph.Manifest // nil for none
	store   *shop.Store
	tokens  *auth.Service
	metrics *web.Metrics
	answers *answers.Room
	turns   *web.Turns
	log     *slog.Logger
	lines   *web.Lines    // of the log; nil where it is written another way
	tls     *tls.Config   // nil for HTTP
	visitor *demo.Visitor // nil but in the demo

	certificate *web.Certificate // nil for HTTP
	hurry       <-chan struct{}  // closed when the shutdown must be soon
}

// reload is what SIGHUP asks for. The key that seals secrets and tokens' keys
// are read again when they change, without being asked.
func (a *app) reload() {
	if a.certificate == nil {
		a.log.Info("SIGHUP: there is nothing to read again; the other files and flags count from the next start")
		return
	}
	a.certificate.Reload()
	a.log.Info("SIGHUP: the certificate is read again with the next connection; the other files and flags count from the next start")
}

// handler is every route, behind what all of them share.
func (a *app) handler() http.Handler {
	codes := web.NewLimit("trying promotion codes", int(a.CodeRateClient), int(a.CodeRateAddress))
	resolver := graph.NewResolver(a.store, graph.WithTokens(a.tokens), graph.WithCodeLimit(codes.Use))
	options := []graph.HandlerOption{graph.CountFields(a.metrics.Field), graph.CountExecutors(a.metrics.Executor), graph.WithBounds(a.documentBounds()), graph.Keeping(a.answers),
		graph.Trusting(a.trusted), graph.CountDocuments(a.metrics.Document), graph.WithLive(a.streams()), graph.InTurn(a.turns)}
	if a.Executor == "gqlgen" {
		options = append(options, graph.WithoutPlans())
	}
	if a.Demo {
		options = append(options, graph.OpenIntrospection())
	}
	var greeting []graph.PlaygroundOption
	if a.visitor != nil {
		greeting = append(greeting, graph.WithVisitor(a.visitor.Token, a.visitor.ClientID))
	}
	proxies, _ := web.ParseProxies(a.TrustedProxies) // Validate saw to it
	api := rest.New(resolver, a.log, rest.Keeping(a.answers))
	playground, graphiql := graph.NewPlayground(api.WriteError, greeting...), graph.NewGraphiQL(api.WriteError, greeting...)
	docs := rest.Docs(api.WriteError, greeting...)
	mux := http.NewServeMux()
	mux.Handle("/", api.Handler())
	mux.Handle("/graphql", graph.NewHandler(resolver, a.log, options...))
	mux.Handle("/oauth/access_token", a.tokens.TokenHandler(api.WriteError))
	mux.Handle("/.well-known/jwks.json", a.tokens.JWKSHandler(api.WriteError))
	readable(mux, map[string]http.Handler{
		"/{$}": playground, graph.PlaygroundPath + "/{part}": playground, "/schema.graphql": http.HandlerFunc(serveSchema),
		graph.GraphiQLPath: graphiql, graph.GraphiQLPath + "/{part}": graphiql,
		rest.OpenAPIPath: rest.OpenAPI(), rest.DocsPath: docs, rest.DocsPath + "/": docs,
		web.HealthPath: web.Health(), web.ReadyPath: web.Ready(a.store.Ping, a.store.ReadOnly),
	}, api.WriteError)
	return web.Chain(web.Entrance(api.WriteError, graph.SentHeaders()...)(web.Route(mux)),
		a.announce,
		web.RequestID,
		web.Address(proxies),
		web.Recover(a.log, api.WriteError),
		a.tokens.Middleware,
		web.AccessLog(a.log, web.WithClient(clientOf), web.WithLines(a.lines)),
		a.metrics.Middleware,
		web.CORS(a.CORSOrigins),
		web.Compress,
		web.Crowd(api.WriteError),
		web.LimitBody(maxBody),
		a.turns.Middleware(writes, api.WriteError),
		graph.Shopper,
	)
}

// announce has the store's jobs know of requests, and give way to them.
func (a *app) announce(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.store.Asked()
		next.ServeHTTP(w, r)
	})
}

// writes tells requests that wait for writes before them. Mutations show only
// once they are read.
func writes(r *http.Request) bool {
	return web.Family(r.URL) == "v2" && r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// streams is what subscriptions are given.
func (a *app) streams() graph.Live {
	live := graph.DefaultLive()
	live.Connection, live.Client, live.Within = a.SubscriptionsConnection, a.SubscriptionsClient, a.AnswerTime
	live.Origin, live.Draining, live.Count = web.Allowed(a.CORSOrigins), web.Draining, a.metrics.Subscriptions
	return live
}

// documentBounds are those of GraphQL documents and their variables.
func (c *serve) documentBounds() graph.Bounds {
	bounds := graph.DefaultBounds()
	bounds.Tokens = cmp.Or(c.DocumentTokens, bounds.Tokens)
	bounds.Depth = cmp.Or(c.DocumentDepth, bounds.Depth)
	bounds.Cost = cmp.Or(c.DocumentCost, bounds.Cost)
	return bounds
}

// trustedDocuments reads the manifest; nil where there is none.
func (c *serve) trustedDocuments() (*graph.Manifest, error) {
	if c.TrustedDocuments == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.TrustedDocuments)
	if err != nil {
		return nil, fmt.Errorf("--trusted-documents: %w", err)
	}
	manifest, err := graph.ReadManifest(text, graph.Trust(c.TrustedDocumentsMode), c.documentBounds())
	if err != nil {
		return nil, fmt.Errorf("--trusted-documents %s: %w", c.TrustedDocuments, err)
	}
	return manifest, nil
}

// adminHandler is what only those who run the server see.
func (a *app) adminHandler() http.Handler {
	mux, api := http.NewServeMux(), rest.New(nil, a.log)
	readable(mux, map[string]http.Handler{
		web.MetricsPath: a.metrics.Handler(), web.HealthPath: web.Health(), web.ReadyPath: web.Ready(a.store.Ping, a.store.ReadOnly),
	}, api.WriteError)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		api.WriteError(w, r, &store.Error{Code: store.NotFound, Detail: "There are " + web.MetricsPath + ", " + web.HealthPath + ", " + web.ReadyPath + " and /debug/pprof/ here, and nothing else."})
	})
	return web.Chain(mux, web.Crowd(api.WriteError), web.Entrance(api.WriteError))
}

// readable adds pages that are only read.
func readable(mux *http.ServeMux, pages map[string]http.Handler, writeError auth.WriteError) {
	for path, page := range pages {
		mux.Handle(path, auth.Allow(writeError, page.ServeHTTP, http.MethodGet, http.MethodHead))
	}
}

// clientOf is the API client that asks, for the log and the metrics.
func clientOf(ctx context.Context) string {
	if principal := auth.From(ctx); principal != nil {
		return principal.ClientID
	}
	return ""
}

func serveSchema(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8") // so that a browser shows it
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(schema))
}
