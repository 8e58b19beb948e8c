package job_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/job"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

type stepKey struct{}

// named adds the step to the context.
type named struct{}

func (named) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	if step == store.StepWrite {
		return ctx, func(error) {}
	}
	return context.WithValue(ctx, stepKey{}, step), func(error) {}
}
func (named) Statement(context.Context, string, time.Time, int64, error) {}

// heard is a log handler that records the step of each entry.
type heard struct {
	slog.Handler
	mu    sync.Mutex
	steps map[string]any // by message
}

func (h *heard) Enabled(context.Context, slog.Level) bool { return true }
func (h *heard) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steps[r.Message] = ctx.Value(stepKey{})
	return nil
}

func (h *heard) step(line string) any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.steps[line]
}

// TestJobAndSweepLogsHaveTheirContext: log entries have the context of their job or sweep, and
// so its trace.
func TestJobAndSweepLogsHaveTheirContext(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		log := &heard{Handler: slog.DiscardHandler, steps: map[string]any{}}
		d := opened(t, backend)
		d.Log = slog.New(log)
		fails := func(context.Context) error { return errors.New("it fails") }
		h := job.NewJanitor(d, []db.Sweep{{Name: "it", Every: time.Hour, Run: fails}})
		s := job.NewService(d, job.Quota{}, h.Run)
		s.SetWork(job.Publish, func(ctx context.Context, _ *job.Job, _ func(done, total int)) (any, error) { return nil, fails(ctx) })
		_, err := s.Enqueue(t.Context(), "client:a", job.Publish, 1, 0, func(context.Context, *db.Tx) error { return nil })
		require.NoError(t, err)
		ctx, stop := context.WithCancel(store.WithObserver(t.Context(), named{}))
		ended := make(chan struct{})
		go func() { defer close(ended); s.Work(ctx) }()
		testkit.Eventually(t, any("job catalog_publish"), func() any { return log.step("a job failed") })
		testkit.Eventually(t, any("sweep it"), func() any { return log.step("could not sweep it") })
		stop()
		<-ended
	})
}
