package job

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
	"portico/store/db"
)

// Janitor runs periodic sweeps, each on one server at a time. Sweeps are throttled and use the
// background connection. An interrupted sweep continues at its next run.
type Janitor struct {
	db      *db.DB
	sweeps  []db.Sweep
	swept   map[string]*atomic.Int64 // deleted rows, by this process
	running chan struct{}            // full while one goroutine is in Run
	wake    chan struct{}            // receives when a sweep was requested

	mu         sync.Mutex
	requested  map[string]bool      // requested sweeps
	retryAfter map[string]time.Time // earliest retry of a failed sweep
}

const (
	minSweepPause = 5 * time.Second // least and largest time between two checks for due sweeps
	maxSweepPause = time.Minute
	retryDelay    = time.Minute // after a failed sweep
	maxDueCount   = 1000        // rows of a sweep that Gauges counts
)

// NewJanitor returns a Janitor that runs sweeps in order.
func NewJanitor(d *db.DB, sweeps []db.Sweep) *Janitor {
	j := &Janitor{db: d, sweeps: sweeps, swept: map[string]*atomic.Int64{}, running: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		requested: map[string]bool{}, retryAfter: map[string]time.Time{}}
	for _, sweep := range sweeps {
		j.swept[sweep.Name] = &atomic.Int64{}
	}
	return j
}

// Request requests a sweep before its time.
func (j *Janitor) Request(name string) {
	j.mu.Lock()
	j.requested[name] = true
	j.mu.Unlock()
	select {
	case j.wake <- struct{}{}:
	default: // already awake
	}
}

// Run runs due sweeps until ctx ends. If several goroutines call it, one runs at a time.
func (j *Janitor) Run(ctx context.Context) {
	select {
	case j.running <- struct{}{}:
		defer func() { <-j.running }()
	case <-ctx.Done():
		return
	}
	for ctx.Err() == nil {
		wait := minSweepPause
		if !j.db.ReadOnly() {
			var err error
			if wait, err = j.sweepDue(ctx); err != nil && ctx.Err() == nil && store.AsErrors(err)[0].Code != store.Unavailable { // those are logged already
				j.db.Log.Warn("could not look for due sweeps", "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-j.wake:
		case <-time.After(wait):
		}
	}
}

// sweepDue runs sweeps that are due and that no server runs. It returns when to look again.
func (j *Janitor) sweepDue(ctx context.Context) (wait time.Duration, err error) {
	known, err := j.states(ctx)
	if err != nil {
		return minSweepPause, err
	}
	wait = maxSweepPause
	for i := range j.sweeps {
		if ctx.Err() != nil {
			return wait, nil
		}
		state := known[j.sweeps[i].Name]
		after := j.dueAfter(&j.sweeps[i], state, time.Now())
		if after <= 0 {
			j.sweep(ctx, &j.sweeps[i], state)
			after = j.sweeps[i].Every
		}
		wait = min(wait, after)
	}
	return max(wait, minSweepPause), nil
}

// SweepAll runs every sweep, due or not, without a lease: even if other servers run them too.
func (j *Janitor) SweepAll(ctx context.Context) error {
	for _, sweep := range j.sweeps {
		if err := sweep.Run(db.WithSweepCounter(ctx, j.swept[sweep.Name])); err != nil {
			return err
		}
	}
	return nil
}

// sweepState is a row of the table sweep.
type sweepState struct {
	held  bool          // a live server runs it
	ended int64         // end of the last run by the database's clock; 0 for never
	idle  time.Duration // time since then
}

// states reads the states of all sweeps that ever ran, by name.
func (j *Janitor) states(ctx context.Context) (map[string]sweepState, error) {
	byName := map[string]sweepState{}
	_, err := db.Collect(ctx, j.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
		var name, worker string
		var beat, ended, now int64
		err = rows.Scan(&name, &worker, &beat, &ended, &now)
		byName[name] = sweepState{
			held:  worker != "" && now-beat < leaseExpiry.Microseconds(),
			ended: ended, idle: time.Duration(max(0, now-ended)) * time.Microsecond,
		}
		return none, err
	}, `SELECT name, worker, beat_at, ended_at, `+j.db.ClockSQL()+` FROM sweep`)
	return byName, err
}

// dueAfter returns the time until a sweep may be run: at once if it is not positive.
func (j *Janitor) dueAfter(sweep *db.Sweep, state sweepState, now time.Time) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	retry := j.retryAfter[sweep.Name].Sub(now)
	switch {
	case state.held:
		return leaseExpiry // it has ended by then, or the server is gone
	case j.requested[sweep.Name] || state.ended == 0:
		return retry
	}
	return max(retry, sweep.Every-state.idle)
}

// sweep runs one sweep, unless another server runs it or has run it since state was read. It logs an error, and retries after
// retryDelay.
func (j *Janitor) sweep(ctx context.Context, sweep *db.Sweep, state sweepState) {
	worker, within := store.NewID(), ctx
	held, err := j.claim(ctx, sweep.Name, worker, state)
	if err == nil && held {
		j.mu.Lock()
		delete(j.requested, sweep.Name)
		j.mu.Unlock()
		within, err = j.runLeased(ctx, sweep, worker)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	j.mu.Lock()
	j.retryAfter[sweep.Name] = time.Now().Add(retryDelay)
	j.mu.Unlock()
	if !errors.Is(err, errLeaseLost) && store.AsErrors(err)[0].Code != store.Unavailable {
		j.db.Log.WarnContext(within, "could not sweep "+sweep.Name, "error", err)
	}
}

// claim takes the lease of a sweep, unless its state changed since it was read.
func (j *Janitor) claim(ctx context.Context, name, worker string, state sweepState) (held bool, err error) {
	now := j.db.ClockSQL()
	err = j.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		n, err := t.Exec(ctx, `
			INSERT INTO sweep (name, worker, beat_at, ended_at, swept) VALUES ($1, $2, `+now+`, 0, 0)
			ON CONFLICT (name) DO UPDATE SET worker = excluded.worker, beat_at = excluded.beat_at
			WHERE sweep.ended_at = $4 AND (sweep.worker = '' OR sweep.beat_at < `+now+` - $3)`, name, worker, leaseExpiry.Microseconds(), state.ended)
		held = n > 0
		return err
	})
	return held, err
}

// runLeased runs a sweep and renews its lease. It stops if the lease is lost. within is the
// context of the run, for the log.
func (j *Janitor) runLeased(ctx context.Context, sweep *db.Sweep, worker string) (within context.Context, err error) {
	within = ctx
	all := j.swept[sweep.Name]
	before := all.Load()
	lost, err := runLeased(ctx,
		func(ctx context.Context) error { return j.renew(ctx, sweep.Name, worker) },
		func(ctx context.Context) error {
			working, end := store.StartStep(ctx, store.StepSweep+sweep.Name)
			within = working
			err := db.RecoverPanic(func() error {
				return sweep.Run(db.WithSweepCounter(db.WithBackgroundPool(j.db.WithThrottle(working)), all))
			})
			end(err)
			return err
		})
	if lost != nil {
		return within, lost
	}
	return within, errors.Join(err, j.release(context.WithoutCancel(ctx), sweep.Name, worker, all.Load()-before, err == nil))
}

// renew renews the lease, or returns errLeaseLost.
func (j *Janitor) renew(ctx context.Context, name, worker string) error {
	return j.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		n, err := t.Exec(ctx, `UPDATE sweep SET beat_at = `+j.db.ClockSQL()+` WHERE name = $1 AND worker = $2`, name, worker)
		if err == nil && n == 0 {
			err = errLeaseLost
		}
		return err
	})
}

// release ends the lease and records the result: the deleted rows, and the end of the run if it was whole.
func (j *Janitor) release(ctx context.Context, name, worker string, rows int64, whole bool) error {
	return j.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		_, err := t.Exec(ctx, `
			UPDATE sweep SET worker = '', swept = swept + $3, ended_at = CASE WHEN $4 THEN `+j.db.ClockSQL()+` ELSE ended_at END
			WHERE name = $1 AND worker = $2`, name, worker, rows, whole)
		return err
	})
}

// SweepGauge is the state of a sweep, for metrics.
type SweepGauge struct {
	Name  string
	Swept int64         // deleted rows, by this process
	Ended bool          // some server has completed it
	Idle  time.Duration // time since then
	Due   int           // rows to delete, counted up to 1000
}

// Gauges returns the state of each sweep.
func (j *Janitor) Gauges(ctx context.Context) ([]SweepGauge, error) {
	known, err := j.states(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]SweepGauge, len(j.sweeps))
	for i, sweep := range j.sweeps {
		state := known[sweep.Name]
		list[i] = SweepGauge{Name: sweep.Name, Swept: j.swept[sweep.Name].Load(), Ended: state.ended > 0, Idle: state.idle}
		if sweep.CountDue == nil {
			continue
		}
		if list[i].Due, err = sweep.CountDue(ctx, maxDueCount); err != nil {
			return nil, err
		}
	}
	return list, nil
}
