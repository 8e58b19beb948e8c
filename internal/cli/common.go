package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"portico/store"
	"portico/store/shop"
)

// Common are the flags of every command that opens the store.
type Common struct {
	DatabaseURL string `group:"Store and log" placeholder:"URL" default:"file:portico.db" help:"The database: file:PATH for SQLite, or postgres://user@host:5432/database. Default: ${default}."`
	Synchronous string `group:"Store and log" placeholder:"MODE" enum:"FULL,NORMAL,OFF" default:"FULL" help:"SQLite only, when a write counts as done: FULL survives loss of power, NORMAL may lose the last writes to it, OFF leaves it all to the system. Default: ${default}."`
	Readers     uint16 `group:"Store and log" placeholder:"N" default:"0" help:"Connections that read from SQLite; or, each, the connections that read from PostgreSQL and those that write to it, and of the latter as many again, at most 4, for publications and exports, and one for housekeeping. 0 is pool_max_conns of the URL, or the engine's own choice. Default: ${default}."`

	DatabaseWait  time.Duration `group:"Store and log" placeholder:"DURATION" default:"5s" help:"How long to wait for a connection to PostgreSQL: a free one, or a new one. Default: ${default}."`
	ReadTime      time.Duration `group:"Store and log" placeholder:"DURATION" default:"10s" help:"How long one query may take, but for those of publications and exports. Default: ${default}."`
	WriteTime     time.Duration `group:"Store and log" placeholder:"DURATION" default:"30s" help:"How long one write may take, what it is tried again included; a publication is many. Default: ${default}."`
	LockTime      time.Duration `group:"Store and log" placeholder:"DURATION" default:"8s" help:"PostgreSQL only, how long a write may wait for a row that another transaction holds. Default: ${default}."`
	IdleWriteTime time.Duration `group:"Store and log" placeholder:"DURATION" default:"5s" help:"PostgreSQL only, after how long the database ends a write of a server that stands still, so that others go on; less than --lock-time. Default: ${default}."`

	CacheBytes uint64 `group:"Store and log" placeholder:"BYTES" default:"0" help:"Memory for published products and lists, in bytes; 0 is an eighth of the memory that the process can have, at most 128 MiB. Default: ${default}."`
	LogLevel   string `group:"Store and log" placeholder:"LEVEL" enum:"debug,info,warn,error" default:"info" help:"The least that is logged: debug, info, warn or error. Default: ${default}."`
	LogFormat  string `group:"Store and log" placeholder:"FORMAT" enum:"auto,text,json" default:"auto" help:"How standard error is logged to: text, json, or auto, which is text on a terminal and json elsewhere. Default: ${default}."`
}

// Validate checks what kong cannot.
func (c *Common) Validate() error {
	if _, embedded := shop.SQLiteFile(c.DatabaseURL); !embedded && !strings.HasPrefix(c.DatabaseURL, "postgres://") && !strings.HasPrefix(c.DatabaseURL, "postgresql://") {
		return usage("--database-url must start with file: or postgres://, for example file:portico.db")
	}
	if err := c.patience().Check(); err != nil {
		return usage("%s", err)
	}
	return nil
}

func (c *Common) patience() store.Timeouts {
	return store.Timeouts{Connection: c.DatabaseWait, Read: c.ReadTime, Write: c.WriteTime, Lock: c.LockTime, Idle: c.IdleWriteTime}
}

// Log is the command's log.
func (c *Common) Log(streams Streams) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo // the enum lets nothing else through
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "text" || c.LogFormat == "auto" && isTerminal(streams.Err) {
		return slog.New(slog.NewTextHandler(streams.Err, options))
	}
	return slog.New(slog.NewJSONHandler(streams.Err, options))
}

// LogsJSON tells whether a log is one of JSON.
func LogsJSON(log *slog.Logger) bool {
	_, is := log.Handler().(*slog.JSONHandler)
	return is
}

// Open opens the store, and creates or migrates it.
func (c *Common) Open(ctx context.Context, log *slog.Logger, options ...func(*shop.Config)) (*shop.Store, error) {
	config := shop.Config{
		URL: c.DatabaseURL, Readers: int(c.Readers), Synchronous: c.Synchronous, CacheBytes: cmp.Or(c.CacheBytes, DefaultCacheBytes()), Log: log,
		Patience: c.patience(),
	}
	for _, option := range options {
		option(&config)
	}
	return shop.Open(ctx, config)
}

// OpenExisting is Open for a command that has no use for an empty store: it
// does not create a SQLite file.
func (c *Common) OpenExisting(ctx context.Context, log *slog.Logger, options ...func(*shop.Config)) (*shop.Store, error) {
	if path, embedded := shop.SQLiteFile(c.DatabaseURL); embedded {
		if _, err := os.Stat(path); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("the database file %s does not exist; correct --database-url, or create the database with portico migrate", path)
			}
			return nil, err
		}
	}
	return c.Open(ctx, log, options...)
}
