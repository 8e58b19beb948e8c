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

// House is what keeps a database from growing: sweeps, each done by one server
// at a time, beside requests and jobs. A sweep gives way to both, and takes no
// connection from them; whatever ends it, the next one goes on from there.
type House struct {
	db     *db.DB
	sweeps []db.Sweep
	swept  map[string]*atomic.Int64 // rows, by this process
	alone  chan struct{}            // is full while somebody keeps it
	wake   chan struct{}

	mu   sync.Mutex
	soon map[string]bool      // asked for
	not  map[string]time.Time // before when one that failed is not tried again
}

const (
	lookEvery  = 5 * time.Second // for what is due
	sweepAgain = time.Minute     // after one that failed
	dueCounted = 1000
)

// NewHouse is kept by sweeps, in their order.
func NewHouse(d *db.DB, sweeps []db.Sweep) *House {
	h := &House{db: d, sweeps: sweeps, swept: map[string]*atomic.Int64{}, alone: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		soon: map[string]bool{}, not: map[string]time.Time{}}
	for _, sweep := range sweeps {
		h.swept[sweep.Name] = &atomic.Int64{}
	}
	return h
}

// Soon asks for a sweep before its time.
func (h *House) Soon(name string) {
	h.mu.Lock()
	h.soon[name] = true
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // it is awake
	}
}

// Keep sweeps what is due until ctx ends. Of several that keep the house of one
// process the first does.
func (h *House) Keep(ctx context.Context) {
	select {
	case h.alone <- struct{}{}:
		defer func() { <-h.alone }()
	case <-ctx.Done():
		return
	}
	for ctx.Err() == nil {
		if !h.db.ReadOnly() {
			if err := h.sweepDue(ctx); err != nil && ctx.Err() == nil && store.AsErrors(err)[0].Code != store.Unavailable { // which is told already
				h.db.Log.Warn("could not look for what is to be swept", "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-h.wake:
		case <-time.After(lookEvery):
		}
	}
}

// sweepDue sweeps what is due now and nobody sweeps.
func (h *House) sweepDue(ctx context.Context) error {
	known, err := h.states(ctx)
	if err != nil {
		return err
	}
	for i := range h.sweeps {
		if ctx.Err() != nil {
			return nil
		}
		if is := known[h.sweeps[i].Name]; h.due(&h.sweeps[i], is) {
			h.sweep(ctx, &h.sweeps[i], is)
		}
	}
	return nil
}

// SweepAll sweeps everything, whether or not it is due or others are at it.
func (h *House) SweepAll(ctx context.Context) error {
	for _, sweep := range h.sweeps {
		if err := sweep.Run(db.WithSweepCounter(ctx, h.swept[sweep.Name])); err != nil {
			return err
		}
	}
	return nil
}

// sweepState is a row of the table.
type sweepState struct {
	held  bool          // by somebody who lives
	ended int64         // when the last one ended, by the database's clock; 0 for never
	idle  time.Duration // since then
}

func (h *House) states(ctx context.Context) (map[string]sweepState, error) {
	byName := map[string]sweepState{}
	_, err := db.Collect(ctx, h.db.Reader, func(rows *sql.Rows) (none struct{}, err error) {
		var name, worker string
		var beat, ended, now int64
		err = rows.Scan(&name, &worker, &beat, &ended, &now)
		byName[name] = sweepState{
			held:  worker != "" && now-beat < jobStale.Microseconds(),
			ended: ended, idle: time.Duration(max(0, now-ended)) * time.Microsecond,
		}
		return none, err
	}, `SELECT name, worker, beat_at, ended_at, `+h.db.ClockSQL()+` FROM sweep`)
	return byName, err
}

// due tells whether a sweep is to be tried now. What was asked for stays so
// until it is begun.
func (h *House) due(sweep *db.Sweep, is sweepState) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if is.held || time.Now().Before(h.not[sweep.Name]) {
		return false
	}
	return h.soon[sweep.Name] || is.ended == 0 || is.idle >= sweep.Every
}

// sweep does one sweep, if nobody else does or has done since its state was
// read.
func (h *House) sweep(ctx context.Context, sweep *db.Sweep, is sweepState) {
	worker, within := store.NewID(), ctx
	held, err := h.claim(ctx, sweep.Name, worker, is)
	if err == nil && held {
		h.mu.Lock()
		delete(h.soon, sweep.Name)
		h.mu.Unlock()
		within, err = h.holding(ctx, sweep, worker)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	h.mu.Lock()
	h.not[sweep.Name] = time.Now().Add(sweepAgain)
	h.mu.Unlock()
	if !errors.Is(err, errTakenOver) && store.AsErrors(err)[0].Code != store.Unavailable {
		h.db.Log.WarnContext(within, "could not sweep "+sweep.Name, "error", err)
	}
}

// claim takes the lease of a sweep, unless it is no longer as it was read.
func (h *House) claim(ctx context.Context, name, worker string, is sweepState) (held bool, err error) {
	now := h.db.ClockSQL()
	err = h.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		n, err := t.Exec(ctx, `
			INSERT INTO sweep (name, worker, beat_at, ended_at, swept) VALUES ($1, $2, `+now+`, 0, 0)
			ON CONFLICT (name) DO UPDATE SET worker = excluded.worker, beat_at = excluded.beat_at
			WHERE sweep.ended_at = $4 AND (sweep.worker = '' OR sweep.beat_at < `+now+` - $3)`, name, worker, jobStale.Microseconds(), is.ended)
		held = n > 0
		return err
	})
	return held, err
}

// holding sweeps, and renews the lease meanwhile. Whoever loses it stops. within
// is the context of the sweep's work, for the log.
func (h *House) holding(ctx context.Context, sweep *db.Sweep, worker string) (within context.Context, err error) {
	within = ctx
	all := h.swept[sweep.Name]
	before := all.Load()
	lost, err := underLease(ctx,
		func(ctx context.Context) error { return h.renew(ctx, sweep.Name, worker) },
		func(ctx context.Context) error {
			working, tell := store.StartStep(ctx, store.StepSweep+sweep.Name)
			within = working
			err := db.RecoverPanic(func() error {
				return sweep.Run(db.WithSweepCounter(db.WithBackgroundPool(h.db.WithThrottle(working)), all))
			})
			tell(err)
			return err
		})
	if lost != nil {
		return within, lost
	}
	return within, errors.Join(err, h.giveBack(context.WithoutCancel(ctx), sweep.Name, worker, all.Load()-before, err == nil))
}

// renew is errTakenOver where another server has the lease.
func (h *House) renew(ctx context.Context, name, worker string) error {
	return h.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		n, err := t.Exec(ctx, `UPDATE sweep SET beat_at = `+h.db.ClockSQL()+` WHERE name = $1 AND worker = $2`, name, worker)
		if err == nil && n == 0 {
			err = errTakenOver
		}
		return err
	})
}

// giveBack ends the lease, and tells what was done under it.
func (h *House) giveBack(ctx context.Context, name, worker string, rows int64, whole bool) error {
	return h.db.Update(ctx, "", func(ctx context.Context, t *db.Tx) error {
		_, err := t.Exec(ctx, `
			UPDATE sweep SET worker = '', swept = swept + $3, ended_at = CASE WHEN $4 THEN `+h.db.ClockSQL()+` ELSE ended_at END
			WHERE name = $1 AND worker = $2`, name, worker, rows, whole)
		return err
	})
}

// SweepGauge is how far a sweep is.
type SweepGauge struct {
	Name  string
	Swept int64         // rows, by this process
	Ended bool          // some server has swept to the end
	Idle  time.Duration // since then
	Due   int           // what waits for it, counted up to 1000
}

// Gauges measures each sweep.
func (h *House) Gauges(ctx context.Context) ([]SweepGauge, error) {
	known, err := h.states(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]SweepGauge, len(h.sweeps))
	for i, sweep := range h.sweeps {
		is := known[sweep.Name]
		list[i] = SweepGauge{Name: sweep.Name, Swept: h.swept[sweep.Name].Load(), Ended: is.ended > 0, Idle: is.idle}
		if sweep.CountDue == nil {
			continue
		}
		if list[i].Due, err = sweep.CountDue(ctx, dueCounted); err != nil {
			return nil, err
		}
	}
	return list, nil
}
