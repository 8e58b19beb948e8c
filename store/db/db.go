// Package db reads and writes the database. DB is an open database, Tx a write transaction, Session runs queries;
// the package also pages lists, keeps idempotency keys and watches for changes by
// other processes. It must not import the package of a resource.
package db

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
	"portico/store/db/dialect"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	config     Config
	connection dialect.Config // config as the dialect takes it
	hooks      Hooks
	dialect    dialect.Dialect
	Log        *slog.Logger
	clock      func() time.Time

	pools       dialect.Pools
	lockWaiters *lockWaiters // nil on SQLite
	standby     *standby     // nil for none
	Reader      Session      // queries outside a write
	poller      Session      // like Reader, but works during a suspension
	errorLog    errorLogger

	identityGuard *identityGuard
	keyedTables   []string // tables with a primary key when the database was opened

	readOnly     atomic.Bool // last known state
	failedWrites failedWrites
	slow         *slowStatements
	Cache        *Cache // nil if disabled

	queue                chan *queuedWrite
	pauses               chan func() // run by the writer between two groups
	checkpointer         checkpointer
	closing              chan struct{}
	closeOnce            sync.Once
	writerDone, pollDone chan struct{} // closed when the writer and the poll loop have ended
	goroutines           sync.WaitGroup

	topics topics
	polls  polls

	pace pollPace // when the poll loop polls

	listening     atomic.Bool   // notifications of other servers arrive
	echoTimeout   time.Duration // for receiving one's own, once it was sent
	announcements chan struct{} // receives when this process wrote something that others poll for
	id            string        // of this process, among those that use the database

	settings TopicCache[*shopSettings]
	requests atomic.Uint64 // requests so far, for throttled jobs
	probe    delayProbe    // how long requests wait for a processor, for throttled jobs
	keys     *keyQuota
}

// Hooks are called with what this process notices. Each may be nil. The poll loop calls all of them. Changed is also called after
// a commit of this process, so that calls may overlap, and Suspended by whatever notices another database: neither may use the
// database or wait.
type Hooks struct {
	WorkSQL      string                                      // a SQL expression that is 1 while background work waits, else 0; "" for 0
	Watched      func() bool                                 // whether somebody waits for changes
	Polled       func(ctx context.Context, found Poll) error // after each poll, except during a suspension
	Changed      func(name Topic)                            // a topic changed, in this process or another
	FileReplaced func()                                      // the database file was replaced: stop serving

	Suspended     func()                                                          // the database may be a different one: stop serving cached data
	CheckComplete func(ctx context.Context, in Session) (found string, err error) // describes a replaced database; the error says what is missing
	Replaced      func()                                                          // the replaced database is complete and is served from now on
}

// Poll is what a poll found.
type Poll struct {
	Versions map[Topic]int64 // of all topics
	Asked    time.Time       // when the poll started
	Work     bool            // background work waits
	Idle     bool            // there were no requests for a while
}

// TopicCache caches a value of the database. It reads the value again when its topic
// changes, and every reloadEvery.
type TopicCache[T any] struct {
	mu   sync.Mutex // held to read the value again
	last atomic.Pointer[topicValue[T]]
}

// topicValue is a value as it was read.
type topicValue[T any] struct {
	value            T
	version, reloads int64
}

// Tx is a write transaction. It may run again after a conflict, so register side
// effects with AfterCommit.
type Tx struct {
	Session
	db          *DB
	Now         time.Time // fixed for the whole write, truncated to milliseconds
	safeNow     time.Time // cached SafeNow
	Actor       store.Actor
	afterCommit []func()
	events      []store.AuditEvent // recorded by Record, stored by storeEvents before the commit

	caller   context.Context        // of the caller of Update
	versions store.ConsistencyToken // versions that it wrote; nil for none
}

// queuedWrite is a write in the queue.
type queuedWrite struct {
	ctx   context.Context
	actor store.Actor
	fn    func(context.Context, *Tx) error
	done  chan error
	tx    *Tx   // of the last attempt; nil if fn failed or did not run
	err   error // of fn, or why nothing was committed
}

// checkpointer copies SQLite's write-ahead log into the database file on a connection of its own, so
// that commits do not wait for it. The log starts again from its beginning only when all of it was
// copied, so the writer copies the last pages between two commits.
type checkpointer struct {
	log     Session
	mu      sync.Mutex    // held while the log is copied on that connection: SQLite rejects a second copy
	written chan struct{} // receives when a group was committed
	finish  atomic.Bool   // the writer has to copy the last pages
}

// FailedWrites returns the number of writes that the database did not take since it was opened, by cause: full (its
// disk), read_only or connection.
func (s *DB) FailedWrites() map[string]int64 {
	counts := map[string]int64{}
	for i, cause := range failedWriteCauses {
		counts[cause.name] = s.failedWrites.counts[i].Load()
	}
	return counts
}

// SlowStatements returns the number of statements that took 100 ms or longer since the database was opened, by
// operation and table.
func (s *DB) SlowStatements() map[string]int64 {
	s.slow.mu.Lock()
	defer s.slow.mu.Unlock()
	return maps.Clone(s.slow.counts)
}

// troubleTime is how long a failed write counts as trouble. On a full disk small writes may succeed between larger ones.
const troubleTime = time.Minute

// WriteTrouble returns why the database did not take a write within the last minute: store.ErrDiskFull,
// store.ErrReadOnly or store.ErrUnavailable; nil if it took all. A full disk of a SQLite file counts. It does not query the database.
func (s *DB) WriteTrouble() error {
	if s.ReadOnly() {
		return store.ErrReadOnly
	}
	if last := s.failedWrites.last.Load(); last != nil && time.Since(last.at) < troubleTime {
		return last.cause
	}
	if s.pools.FileGuard.IsDiskFull() {
		return store.ErrDiskFull
	}
	return nil
}
