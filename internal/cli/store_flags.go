package cli

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"portico/store"
	"portico/store/shop"
)

// StoreFlags are the flags of each command that opens the database.
type StoreFlags struct {
	DatabaseURL       string `group:"database" placeholder:"URL" default:"file:portico.db" help:"Database: file:PATH for SQLite, or postgres://user@host:5432/database."`
	Readers           uint16 `group:"database" placeholder:"N" default:"0" help:"Size of the connection pool for reads. PostgreSQL has another one of this size for writes, and up to 5 more connections for publications, exports and housekeeping. 0 means pool_max_conns of the URL, else a size that depends on the CPU cores."`
	ReleaseCacheBytes uint64 `group:"database" placeholder:"BYTES" default:"0" help:"Memory for published products and lists. 0 means an eighth of the memory, at most 80 MiB."`
	Synchronous       string `group:"database" hidden:"" placeholder:"MODE" enum:"FULL,NORMAL,OFF" default:"FULL" help:"SQLite only. When a write is durable: FULL survives a power failure, NORMAL can lose the last writes, OFF leaves it to the operating system."`

	DatabaseWait  time.Duration `group:"database" hidden:"" placeholder:"DURATION" default:"5s" help:"PostgreSQL only. Time limit to get a connection. 0 means the default."`
	ReadTime      time.Duration `group:"database" hidden:"" placeholder:"DURATION" default:"10s" help:"Time limit for a query. Does not apply to publications and exports. 0 means the default."`
	WriteTime     time.Duration `group:"database" hidden:"" placeholder:"DURATION" default:"30s" help:"Time limit for a write, including retries. A publication makes many writes. 0 means the default."`
	LockTime      time.Duration `group:"database" hidden:"" placeholder:"DURATION" default:"8s" help:"PostgreSQL only. How long a write waits for a row that another transaction has locked. 0 means the default."`
	IdleWriteTime time.Duration `group:"database" hidden:"" placeholder:"DURATION" default:"1s" help:"PostgreSQL only. How long a transaction may stay idle before the database ends it. Must be less than --lock-time. 0 means the default."`

	LogLevel  string `group:"log" placeholder:"LEVEL" enum:"debug,info,warn,error" default:"info" help:"Lowest level to log: debug, info, warn or error."`
	LogFormat string `group:"log" placeholder:"FORMAT" enum:"auto,text,json" default:"auto" help:"Format of the log on standard error: text, json, or auto, which is text on a terminal and json elsewhere."`
}

// Validate checks what the parser cannot.
func (c *StoreFlags) Validate() error {
	if _, isSQLite := shop.SQLiteFile(c.DatabaseURL); !isSQLite && !isPostgres(c.DatabaseURL) {
		return usagef("--database-url must start with file: or postgres://, for example file:portico.db")
	}
	if err := c.timeouts().Check(); err != nil {
		return usagef("%s", err)
	}
	return nil
}

// isPostgres reports whether an address is one of PostgreSQL.
func isPostgres(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

func (c *StoreFlags) timeouts() store.Timeouts {
	return store.Timeouts{Connection: c.DatabaseWait, Read: c.ReadTime, Write: c.WriteTime, Lock: c.LockTime, Idle: c.IdleWriteTime}
}

// Log returns the logger of the command.
func (c *StoreFlags) Log(streams Streams) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo // never: the parser rejects other values
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "text" || c.LogFormat == "auto" && isTerminal(streams.Err) {
		return slog.New(slog.NewTextHandler(streams.Err, options))
	}
	return slog.New(slog.NewJSONHandler(streams.Err, options))
}

// LogsJSON reports whether a logger writes JSON.
func LogsJSON(log *slog.Logger) bool {
	_, ok := log.Handler().(*slog.JSONHandler)
	return ok
}

// Open opens the database, and creates or migrates it: for serve, and for commands whose purpose is to
// fill a database.
func (c *StoreFlags) Open(ctx context.Context, log *slog.Logger, options ...func(*shop.Config)) (*shop.Store, error) {
	return c.open(ctx, log, shop.CreateSchema, options)
}

// OpenExisting is Open for a command that changes a shop. It migrates the database, and does not
// create one.
func (c *StoreFlags) OpenExisting(ctx context.Context, log *slog.Logger, options ...func(*shop.Config)) (*shop.Store, error) {
	return c.open(ctx, log, shop.MigrateSchema, options)
}

// OpenToRead is Open for a command that only reads. It does not even migrate the database.
func (c *StoreFlags) OpenToRead(ctx context.Context, log *slog.Logger, options ...func(*shop.Config)) (*shop.Store, error) {
	return c.open(ctx, log, shop.KeepSchema, options)
}

// open opens the database by the flags. mode says what it may do to the schema, and options change the configuration.
func (c *StoreFlags) open(ctx context.Context, log *slog.Logger, mode shop.SchemaMode, options []func(*shop.Config)) (*shop.Store, error) {
	config := shop.Config{
		URL: c.DatabaseURL, Schema: mode, Readers: int(c.Readers), Synchronous: c.Synchronous, CacheBytes: cmp.Or(c.ReleaseCacheBytes, DefaultReleaseCacheBytes()), Log: log,
		Timeouts: c.timeouts(),
	}
	for _, option := range options {
		option(&config)
	}
	return shop.Open(ctx, config)
}
