package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/exchange"
	"portico/store/job"
	"portico/store/release/segment"
	"portico/store/settings"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const actor store.Actor = "client:test"

var noon = time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)

// reaches waits until a job is in a state.
func reaches(t *testing.T, s *shop.Store, id string, state job.State) *job.Job {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		job, err := s.Jobs.Get(t.Context(), id)
		require.NoError(t, err)
		if job.State == state {
			return job
		}
		require.Less(t, time.Since(begun), time.Minute, "the job is %s (%s), not %s", job.State, job.Error, state)
	}
}

func enqueue(t *testing.T, s *shop.Store, kind job.Kind, input any) *job.Job {
	t.Helper()
	return enqueueAs(t, s, actor, kind, input)
}

// enqueueAs queues a job of an actor, without a check of what the job needs.
func enqueueAs(t *testing.T, s *shop.Store, by store.Actor, kind job.Kind, input any) *job.Job {
	t.Helper()
	job, err := s.Jobs.Enqueue(t.Context(), by, kind, input, 0, func(context.Context, *db.Tx) error { return nil })
	require.NoError(t, err)
	return job
}

func TestJobs(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("a job is done once, with progress", jobDone(backend))
		t.Run("what waits already is not asked for twice", jobCoalesced(backend))
		t.Run("a job that fails says why, and only what is the caller's business", jobFailed(backend))
		t.Run("a job is canceled", jobCanceled(backend))
		t.Run("a job goes on with the next worker", jobHandedOn(backend))
		t.Run("a job's writes tell how far it is, whatever its worker heard", jobKept(backend))
		t.Run("a job whose worker is gone is taken over", jobTakenOver(backend))
		t.Run("a job whose claim was not committed is not run", jobNotClaimed(backend))
		t.Run("many workers do each job once", jobsShared(backend))
		t.Run("clients take turns, and a long job lets others have its worker", jobsInTurn(backend))
		t.Run("who has fewer jobs that run comes before who has more", jobsFair(backend))
		t.Run("a catalog is published anew where there is something new", jobPublishes(backend))
		t.Run("finished jobs are forgotten after 30 days", jobsForgotten(backend))
	})
}

func jobDone(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t, storetest.WithClock(testkit.NewClock(noon)))
		s.Jobs.SetWork("count", func(_ context.Context, _ *job.Job, progress func(done, total int)) (any, error) {
			progress(3, 7)
			return map[string]int{"n": 7}, nil
		})
		task := enqueue(t, s, "count", 1)
		require.Equal(t, job.Queued, task.State)
		require.Zero(t, task.StartedAt)
		storetest.RunWorker(t, s)
		task = reaches(t, s, task.ID, job.Succeeded)
		require.Equal(t, []int{3, 7}, []int{task.Done, task.Total})
		require.Equal(t, []time.Time{noon, noon, noon}, []time.Time{task.CreatedAt, task.StartedAt, task.FinishedAt})
		require.Equal(t, actor, task.Actor)
		_, err := s.Jobs.Get(t.Context(), "none")
		require.True(t, store.HasCode(err, store.NotFound))
		list, err := s.Jobs.List(t.Context(), 100)
		require.NoError(t, err)
		require.Len(t, list, 1)
		_, err = s.Jobs.List(t.Context(), 101)
		require.True(t, store.HasCode(err, store.Unprocessable))
	}
}

// refuseClaims makes each commit that changes a job fail, after its statements have run, until allow is called. The error contains
// message. On PostgreSQL it is that of an unavailable database, which the worker treats on its own.
func refuseClaims(t *testing.T, backend storetest.Backend) (message string, allow func()) {
	t.Helper()
	message = "FOREIGN KEY"
	refuse, drop := `
		CREATE TABLE no_rows (id INTEGER PRIMARY KEY);
		CREATE TABLE refused (id INTEGER REFERENCES no_rows DEFERRABLE INITIALLY DEFERRED);
		CREATE TRIGGER refuse AFTER UPDATE ON job BEGIN INSERT INTO refused VALUES (1); END`, `DROP TRIGGER refuse`
	if backend.Name == "postgres" {
		message = "refused"
		refuse, drop = `
			CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '53200'; END $$;
			CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON job DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`, `DROP TRIGGER refuse ON job`
	}
	run := func(statements string) {
		_, err := backend.SQL(t).ExecContext(t.Context(), statements)
		require.NoError(t, err)
	}
	run(refuse)
	return message, func() { run(drop) }
}

// jobNotClaimed has a worker try to claim a job, whose commit fails.
func jobNotClaimed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		log, ran := &testkit.LogBuffer{}, new(atomic.Int64)
		s := backend.Open(t, func(c *shop.Config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) })
		s.Jobs.SetWork("counted", func(context.Context, *job.Job, func(done, total int)) (any, error) {
			ran.Add(1)
			return nil, nil
		})
		task := enqueue(t, s, "counted", 1)
		message, allow := refuseClaims(t, backend)
		storetest.RunWorker(t, s)
		testkit.Eventually(t, true, func() bool { return strings.Contains(log.String(), message) }, "the worker tried")
		require.Zero(t, ran.Load())
		require.Equal(t, job.Queued, reaches(t, s, task.ID, job.Queued).State)
		allow()
		reaches(t, s, task.ID, job.Succeeded)
		require.EqualValues(t, 1, ran.Load())
	}
}

func jobCoalesced(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		started, goOn := make(chan struct{}), make(chan struct{})
		s.Jobs.SetWork("slow", func(context.Context, *job.Job, func(done, total int)) (any, error) {
			started <- struct{}{}
			<-goOn
			return nil, nil
		})
		first := enqueue(t, s, "slow", 1)
		require.Equal(t, first.ID, enqueue(t, s, "slow", 1).ID)
		other := enqueue(t, s, "slow", 2)
		require.NotEqual(t, first.ID, other.ID)
		left := enqueue(t, s, "slow", 3) // canceled while it ran, and left by its worker before that noticed
		_, err := backend.SQL(t).ExecContext(t.Context(), `UPDATE job SET canceled = TRUE WHERE id = $1`, left.ID)
		require.NoError(t, err)
		wanted := enqueue(t, s, "slow", 3)
		require.NotEqual(t, left.ID, wanted.ID)
		storetest.RunWorker(t, s)
		<-started
		again := enqueue(t, s, "slow", 1)
		require.NotEqual(t, first.ID, again.ID, "one that runs may have read the past")
		close(goOn)
		for range 4 {
			<-started
		}
		for _, task := range []*job.Job{first, other, wanted, again} {
			reaches(t, s, task.ID, job.Succeeded)
		}
	}
}

func jobFailed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var log bytes.Buffer
		s := backend.Open(t, func(c *shop.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		s.Jobs.SetWork("ours", func(context.Context, *job.Job, func(done, total int)) (any, error) {
			return nil, errors.New("secret table")
		})
		s.Jobs.SetWork("theirs", func(context.Context, *job.Job, func(done, total int)) (any, error) {
			return nil, fmt.Errorf("wrapped: %w", &store.Error{Code: store.Unprocessable, Detail: "The pattern is too small."})
		})
		s.Jobs.SetWork("panics", func(context.Context, *job.Job, func(done, total int)) (any, error) { panic("secret state") })
		stop := storetest.RunWorker(t, s)
		for kind, want := range map[job.Kind]string{
			"ours": "An internal error has occurred.", "panics": "An internal error has occurred.",
			"theirs": "The pattern is too small.", "unheard of": "An internal error has occurred.",
		} {
			require.Equal(t, want, reaches(t, s, enqueue(t, s, kind, nil).ID, job.Failed).Error)
		}
		stop()
		for _, words := range []string{"secret table", "secret state", "unheard of"} {
			require.Contains(t, log.String(), words, "the log tells the cause")
		}
	}
}

// endless gives a store work that goes on until it is ended, and tells of
// each beginning.
func endless(s *shop.Store) (started chan struct{}) {
	started = make(chan struct{})
	s.Jobs.SetWork("long", func(ctx context.Context, _ *job.Job, _ func(done, total int)) (any, error) {
		started <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return started
}

func jobCanceled(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		started := endless(s)
		task := enqueue(t, s, "long", 1)
		canceled, err := s.Jobs.Cancel(t.Context(), actor, task.ID)
		require.NoError(t, err)
		require.Equal(t, job.Canceled, canceled.State)
		require.NotZero(t, canceled.FinishedAt)
		storetest.RunWorker(t, s)
		running := enqueue(t, s, "long", 2)
		<-started // the one that was canceled is never begun
		canceled, err = s.Jobs.Cancel(t.Context(), actor, running.ID)
		require.NoError(t, err)
		require.Equal(t, job.Running, canceled.State, "it ends soon")
		reaches(t, s, running.ID, job.Canceled)
		again, err := s.Jobs.Cancel(t.Context(), actor, running.ID)
		require.NoError(t, err)
		require.Equal(t, job.Canceled, again.State)
		_, err = s.Jobs.Cancel(t.Context(), actor, "none")
		require.True(t, store.HasCode(err, store.NotFound))
	}
}

func jobHandedOn(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		started := endless(s)
		task := enqueue(t, s, "long", 1)
		stop := storetest.RunWorker(t, s)
		<-started
		stop()
		reaches(t, s, task.ID, job.Queued)
		s.Jobs.SetWork("long", func(context.Context, *job.Job, func(done, total int)) (any, error) { return nil, nil })
		storetest.RunWorker(t, s)
		reaches(t, s, task.ID, job.Succeeded)
	}
}

// jobKept has a worker end that did not hear any more that its write was made.
func jobKept(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, writer := backend.Open(t), backend.SQL(t)
		ctx, stop := context.WithCancel(t.Context())
		found := make(chan string, 1)
		first := true
		s.Jobs.SetWork("kept", func(working context.Context, task *job.Job, progress func(done, total int)) (any, error) {
			if !first {
				found <- fmt.Sprintf("%s %d", task.Result, task.Done)
				return nil, nil
			}
			first = false
			progress(0, 9)
			_, err := writer.ExecContext(t.Context(), `UPDATE job SET result = '{"made":5}', done = 5 WHERE kind = 'kept'`)
			stop()
			<-working.Done()
			return nil, errors.Join(err, working.Err())
		})
		task := enqueue(t, s, "kept", nil)
		s.Jobs.Work(ctx)
		between := reaches(t, s, task.ID, job.Queued)
		require.Equal(t, [2]any{`{"made":5}`, 5}, [2]any{string(between.Result), between.Done})
		storetest.RunWorker(t, s)
		require.Equal(t, `{"made":5} 5`, <-found)
		reaches(t, s, task.ID, job.Succeeded)
	}
}

// jobTakenOver has a worker that does not show that it lives lose its job. It
// does not get it back: what it says of its end does not count. A clock that is
// ahead takes nothing from anybody.
func jobTakenOver(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		gone := backend.Open(t, storetest.WithClock(testkit.NewClock(noon)))
		started, goOn := make(chan struct{}), make(chan struct{})
		gone.Jobs.SetWork("long", func(context.Context, *job.Job, func(done, total int)) (any, error) {
			close(started)
			<-goOn
			return nil, errors.New("too late")
		})
		task := enqueue(t, gone, "long", 1)
		stop := storetest.RunWorker(t, gone)
		<-started
		next := backend.Open(t, func(c *shop.Config) { c.Clock = testkit.NewClock(time.Now().Add(time.Hour)).Now })
		next.Jobs.SetWork("long", func(context.Context, *job.Job, func(done, total int)) (any, error) { return nil, nil })
		storetest.RunWorker(t, next)
		other := enqueue(t, next, "long", 2)
		reaches(t, next, other.ID, job.Succeeded)
		reaches(t, next, task.ID, job.Running)
		for reaches := task; reaches.State != job.Succeeded; time.Sleep(10 * time.Millisecond) { // against its worker, which renews it
			leave(t, backend, task.ID)
			var err error
			reaches, err = next.Jobs.Get(t.Context(), task.ID)
			require.NoError(t, err)
		}
		close(goOn)
		stop()
		require.Equal(t, job.Succeeded, reaches(t, next, task.ID, job.Succeeded).State)
	}
}

// leave has a job's lease end, as that of a worker that stands still.
func leave(t *testing.T, backend storetest.Backend, id string) {
	t.Helper()
	_, err := backend.SQL(t).ExecContext(t.Context(), `UPDATE job SET beat_at = 1 WHERE id = $1`, id)
	require.NoError(t, err)
}

func jobsShared(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var mu sync.Mutex
		ran := map[string]int{}
		var ids []string
		first := backend.Open(t)
		for i := range 20 {
			ids = append(ids, enqueue(t, first, "count", i).ID)
		}
		for _, s := range []*shop.Store{first, backend.Open(t), backend.Open(t)} {
			s.Jobs.SetWork("count", func(_ context.Context, job *job.Job, _ func(done, total int)) (any, error) {
				mu.Lock()
				defer mu.Unlock()
				ran[job.ID]++
				return nil, nil
			})
			storetest.RunWorker(t, s)
		}
		for _, id := range ids {
			reaches(t, first, id, job.Succeeded)
		}
		mu.Lock()
		defer mu.Unlock()
		require.Len(t, ran, len(ids))
		for id, times := range ran {
			require.Equal(t, 1, times, id)
		}
	}
}

// jobsInTurn has one worker do jobs of two clients, of which one asked for many,
// and for one that is long.
func jobsInTurn(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		var mu sync.Mutex
		var done []string
		s.Jobs.SetWork("short", func(_ context.Context, job *job.Job, _ func(done, total int)) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			done = append(done, string(job.Actor)+string(job.Input))
			return nil, nil
		})
		const turn = 10 * time.Second
		left := 3
		s.Jobs.SetWork("long", func(ctx context.Context, job *job.Job, _ func(done, total int)) (any, error) {
			for ; left > 0; left-- {
				if err := s.Jobs.CheckTurn(ctx, time.Now().Add(-turn/2)); err != nil {
					return nil, fmt.Errorf("before its turn ended: %w", err)
				}
				if err := s.Jobs.CheckTurn(ctx, time.Now().Add(-turn)); err != nil {
					return nil, err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			done = append(done, "long")
			return nil, nil
		})
		ask := func(by store.Actor, kind job.Kind, input any) *job.Job { return enqueueAs(t, s, by, kind, input) }
		jobs := []*job.Job{ask("a", "long", 0), ask("a", "short", 1), ask("a", "short", 2), ask("b", "short", 3)}
		storetest.RunWorker(t, s)
		for _, task := range jobs {
			reaches(t, s, task.ID, job.Succeeded)
		}
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, "long", done[len(done)-1], "the others came between: %v", done)
		require.Len(t, done, 4)
	}
}

// jobsFair has two workers, and a client whose jobs are there first.
func jobsFair(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		started, goOn := make(chan store.Actor), make(chan struct{})
		s.Jobs.SetWork("held", func(_ context.Context, job *job.Job, _ func(done, total int)) (any, error) {
			started <- job.Actor
			<-goOn
			return nil, nil
		})
		for n := range 4 {
			enqueueAs(t, s, "many", "held", n)
		}
		storetest.RunWorker(t, s)
		require.EqualValues(t, "many", <-started)
		enqueueAs(t, s, "one", "held", 0)
		storetest.RunWorker(t, s)
		require.EqualValues(t, "one", <-started, "who has none that runs comes first")
		close(goOn)
		for range 3 {
			require.EqualValues(t, "many", <-started)
		}
	}
}

func jobsForgotten(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(noon)
		s := backend.Open(t, storetest.WithClock(clock))
		s.Jobs.SetWork("count", func(context.Context, *job.Job, func(done, total int)) (any, error) { return nil, nil })
		stop := storetest.RunWorker(t, s)
		old := enqueue(t, s, "count", 1)
		reaches(t, s, old.ID, job.Succeeded)
		stop()
		clock.Advance(30 * 24 * time.Hour)
		require.NoError(t, s.Sweep(t.Context()))
		reaches(t, s, old.ID, job.Succeeded)
		clock.Advance(time.Second)
		require.NoError(t, s.Sweep(t.Context()))
		_, err := s.Jobs.Get(t.Context(), old.ID)
		require.True(t, store.HasCode(err, store.NotFound))
	}
}

// jobPublishes publishes after each of some writes, and tells whether that
// made a release.
func jobPublishes(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		read := func(text string) {
			t.Helper()
			_, err := s.Exchange.Import(t.Context(), actor, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, exchange.ImportOptions{})
			require.NoError(t, err)
		}
		lines := strings.Join(storetest.ShopLines(), "\n")
		read(lines)
		storetest.RunWorker(t, s)
		publish := func(serve bool) *segment.Release {
			t.Helper()
			task, err := s.Publisher.PublishLater(t.Context(), actor, "main", serve)
			require.NoError(t, err)
			task = reaches(t, s, task.ID, job.Succeeded)
			require.Equal(t, task.Total, task.Done)
			release, err := s.Publisher.ReleaseOfJob(t.Context(), task)
			require.NoError(t, err)
			return release
		}
		last := publish(true)
		for _, c := range []struct {
			name  string
			write func()
			anew  bool
		}{
			{"nothing", func() {}, false},
			{"the same again", func() { read(lines) }, false},
			{"stock", func() {
				_, err := s.Stock.Transact(t.Context(), actor, []stock.Change{{ProductID: "anvil", Action: stock.StockIncrement, Quantity: 1}})
				require.NoError(t, err)
			}, false},
			{"a price", func() { read(strings.Replace(lines, `"amount":99900`, `"amount":99800`, 1)) }, true},
			{"a node", func() {
				_, err := s.Catalogs.AttachProducts(t.Context(), actor, "paints", []string{"ink-unlisted"})
				require.NoError(t, err)
			}, true},
			{"a node, and back again", func() {
				_, err := s.Catalogs.DetachProducts(t.Context(), actor, "paints", []string{"ink-unlisted"})
				require.NoError(t, err)
				_, err = s.Catalogs.AttachProducts(t.Context(), actor, "paints", []string{"ink-unlisted"})
				require.NoError(t, err)
			}, false},
			{"another format", func() {
				_, err := backend.SQL(t).ExecContext(t.Context(), `UPDATE release SET format = format - 1`)
				require.NoError(t, err)
			}, true},
			{"the language of base texts", func() {
				locale := "de"
				_, err := s.Settings.Update(t.Context(), actor, settings.Change{Locale: &locale})
				require.NoError(t, err)
			}, true},
		} {
			c.write()
			release := publish(true)
			require.Equal(t, c.anew, release.ID != last.ID, "a release after a write of %s", c.name)
			last = release
		}
		preview := publish(false)
		require.NotEqual(t, last.ID, preview.ID, "a preview is always another")
		require.Equal(t, last.ID, publish(true).ID)
	}
}
