package db

import (
	"log/slog"
	"sync"
	"time"
)

// errorLogEvery is how often errors of one kind are logged at most.
const errorLogEvery = 10 * time.Second

// errorLogger logs database errors: the first of each kind at once, then a count every errorLogEvery. Kinds are the errors
// that storeError returns.
type errorLogger struct {
	log *slog.Logger

	mu     sync.Mutex
	byKind map[error]*errorCount
}

type errorCount struct {
	loggedAt time.Time // last log entry
	count    int       // errors since then; 0 if all are logged
	last     error     // cause of the last of them
}

// record logs or counts an error.
func (l *errorLogger) record(kind, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.byKind[kind]
	if known == nil {
		known = &errorCount{}
		l.byKind[kind] = known
	}
	known.count++
	known.last = cause
	if time.Since(known.loggedAt) >= errorLogEvery {
		known.log(l.log, kind)
	}
}

// wouldLog reports whether the next error of a kind is logged at once.
func (l *errorLogger) wouldLog(kind error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.byKind[kind]
	return known == nil || time.Since(known.loggedAt) >= errorLogEvery
}

// flush logs counted errors whose interval has passed. Each poll calls it, so that the last errors are logged too.
func (l *errorLogger) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for kind, known := range l.byKind {
		if known.count > 0 && time.Since(known.loggedAt) >= errorLogEvery {
			known.log(l.log, kind)
		}
	}
}

// log writes a log entry and starts to count again.
func (known *errorCount) log(log *slog.Logger, kind error) {
	log.Error(kind.Error(), "times", known.count, "error", known.last)
	known.loggedAt, known.count, known.last = time.Now(), 0, nil
}
