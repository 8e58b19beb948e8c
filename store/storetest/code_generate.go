package storetest

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/job"
	codex "portico/store/promotion/code"
	"portico/store/shop"
)

// CodeGeneration is the promise of Store.GenerateCodes: exactly as many codes
// as were asked for, each once, whatever ends a worker.
func CodeGeneration(t *testing.T, e Engine) {
	t.Run("codes are made by the pattern", generateByPattern(e))
	t.Run("a database that is slow to answer is asked for large batches", generateSlowly(e))
	t.Run("a pattern that is too small is refused, with the odds", generateRefusals(e))
	t.Run("two requests are two jobs", generateTwice(e))
	t.Run("what waits is bounded, for a client and for all", generateBounded(e))
	t.Run("what may wait is chosen", generateBoundedByChoice(e))
	t.Run("codes of others are passed over", generateAround(e))
	t.Run("a job goes on where the last worker was", generateResumed(e))
	t.Run("workers who take a job from each other make it once, and nobody cancels it", generateContended(e))
	t.Run("the codes of a job that is canceled stay", generateCanceled(e))
	t.Run("a job ends with its promotion", generateEnded(e))
	t.Run("codes are exported in order", codesExported(e))
}

func generate(t *testing.T, s *shop.Store, g codex.CodeGeneration) *job.Job {
	t.Helper()
	task, _, err := s.GenerateCodes(t.Context(), actor, g)
	require.NoError(t, err)
	require.Equal(t, job.JobQueued, task.State)
	return task
}

// working runs a worker until stop, or the test's end.
func working(t *testing.T, s *shop.Store) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Work(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func ended(t *testing.T, s *shop.Store, id string) *job.Job {
	t.Helper()
	Soon(t, true, func() bool {
		job, err := s.Job(t.Context(), id)
		require.NoError(t, err)
		return !job.FinishedAt.IsZero()
	})
	job, err := s.Job(t.Context(), id)
	require.NoError(t, err)
	return job
}

// exportedCodes are a promotion's, and each of them is its own.
func exportedCodes(t *testing.T, s *shop.Store, id string) (codes []string) {
	t.Helper()
	require.NoError(t, s.EachPromotionCode(t.Context(), id, func(c *codex.PromotionCode) error {
		require.True(t, c.Held)
		codes = append(codes, c.Code)
		return nil
	}))
	return codes
}

func generateByPattern(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := promoted(t, e, promotionLine("p", ``), promotionLine("q", ``))
		working(t, s)
		task := ended(t, s, generate(t, s, codex.CodeGeneration{PromotionID: "p", Count: 5001, Pattern: "SUMMER-#####-###", Alphabet: "abcdefghij", Uses: ptr(3), ConsumeUnit: codex.PerItem}).ID)
		require.Equal(t, job.JobSucceeded, task.State, task.Error)
		require.Equal(t, []int{5001, 5001}, []int{task.Done, task.Total})
		codes := exportedCodes(t, s, "p")
		require.Len(t, codes, 5001)
		for _, code := range codes {
			require.Regexp(t, summerCode, code)
		}
		c, err := s.PromotionCode(t.Context(), codes[0])
		require.NoError(t, err)
		require.True(t, c.Valid())
		require.Equal(t, []any{3, codex.PerItem, "p"}, []any{*c.MaxUses, c.ConsumeUnit, c.PromotionID})
	}
}

// generateSlowly has each message to and from the database take its time, as on a
// server that is asked for much. The work is then done in few transactions.
func generateSlowly(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		onlyPostgres(t, e)
		promoted(t, e, promotionLine("p", ``))
		network, address := Between(t, e)
		s := e.Open(t, func(config *shop.Config) { config.URL = address })
		task := generate(t, s, codex.CodeGeneration{PromotionID: "p", Count: 6000})
		network.Slow(3 * time.Millisecond)
		ctx, counter := store.CountStatements(t.Context())
		ctx, stop := context.WithCancel(ctx)
		worked := make(chan struct{})
		go func() { defer close(worked); s.Work(ctx) }()
		task = ended(t, s, task.ID)
		stop()
		<-worked
		require.Equal(t, job.JobSucceeded, task.State, task.Error)
		batches := times(counter.Queries(), "UPDATE job SET result")
		require.LessOrEqual(t, batches, 24, "of 256 codes at least")
		network.Slow(0)
		require.Len(t, exportedCodes(t, s, "p"), 6000)
	}
}

func generateRefusals(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := promoted(t, e, promotionLine("p", ``), promotionLine("auto", `,"automatic":true`), promotionLine("over", `,"end":"2024-02-01"`))
		for _, c := range []struct {
			g      codex.CodeGeneration
			code   store.Code
			member string
			words  string
		}{
			{codex.CodeGeneration{PromotionID: "p", Count: 1001, Pattern: "X###-##", Alphabet: "0123456789"}, store.Unprocessable, "pattern", "there are 100000, so that 1 guess in 99.9 would find one; at least 100"},
			{codex.CodeGeneration{PromotionID: "p", Count: 11, Pattern: "#", Alphabet: "01"}, store.Unprocessable, "pattern", "there are 2, so that 1 guess in 1 would"},
			{codex.CodeGeneration{PromotionID: "p", Count: 1, Pattern: "NONE"}, store.Unprocessable, "pattern", "SUMMER-####-####"},
			{codex.CodeGeneration{PromotionID: "p", Count: 1, Pattern: "\x00#"}, store.Invalid, "pattern", "NUL"},
			{codex.CodeGeneration{PromotionID: "p", Count: 1, Alphabet: "AAB"}, store.Unprocessable, "alphabet", "each once"},
			{codex.CodeGeneration{PromotionID: "p", Count: 1, Alphabet: "A"}, store.Unprocessable, "alphabet", "2 to 64"},
			{codex.CodeGeneration{PromotionID: "p", Count: 1, Alphabet: "A B"}, store.Unprocessable, "alphabet", "visible"},
			{codex.CodeGeneration{PromotionID: "p", Count: 0}, store.Unprocessable, "count", "10000000"},
			{codex.CodeGeneration{PromotionID: "p", Count: 10_000_001}, store.Unprocessable, "count", "10000000"},
			{codex.CodeGeneration{PromotionID: "p", Count: 1, Uses: ptr(0)}, store.Unprocessable, "uses", "1"},
			{codex.CodeGeneration{PromotionID: "none", Count: 1}, store.NotFound, "promotion_id", "none"},
			{codex.CodeGeneration{PromotionID: "auto", Count: 1}, store.Unprocessable, "", "automatic"},
			{codex.CodeGeneration{PromotionID: "over", Count: 1}, store.Unprocessable, "", "ended"},
		} {
			_, _, err := s.GenerateCodes(t.Context(), actor, c.g)
			requireFault(t, err, c.code, c.member, c.words)
		}
		_, odds, err := s.GenerateCodes(t.Context(), actor, codex.CodeGeneration{PromotionID: "p", Count: 1000, Pattern: "X###-##", Alphabet: "0123456789"})
		require.NoError(t, err)
		require.InDelta(t, 100, odds, 0.001)
	}
}

func generateTwice(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := promoted(t, e, promotionLine("p", ``))
		g := codex.CodeGeneration{PromotionID: "p", Count: 10}
		first, second := generate(t, s, g), generate(t, s, g)
		require.NotEqual(t, first.ID, second.ID)
		working(t, s)
		ended(t, s, first.ID)
		ended(t, s, second.ID)
		require.Len(t, exportedCodes(t, s, "p"), 20)
	}
}

// generateAround makes codes until there are hardly any left.
func generateAround(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		left := Pick(10, 98)
		lines := []string{promotionLine("p", ``), promotionLine("q", ``)}
		for held := range 100 - left {
			lines = append(lines, code("q", fmt.Sprintf("%02d", held), ``))
		}
		s, _ := promoted(t, e, lines...)
		working(t, s)
		g := codex.CodeGeneration{PromotionID: "p", Count: 1, Pattern: "##", Alphabet: "0123456789"}
		for made := range left {
			task := ended(t, s, generate(t, s, g).ID)
			require.Equal(t, job.JobSucceeded, task.State, "%d: %s", made, task.Error)
		}
		require.Len(t, exportedCodes(t, s, "p"), left)
		task := ended(t, s, generate(t, s, g).ID)
		require.Equal(t, job.JobFailed, task.State)
		require.Contains(t, task.Error, "hardly a code left")
	}
}

// generateResumed stops workers in the middle, again and again.
func generateResumed(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		count := Pick(6_000, 30_000)
		s, _ := promoted(t, e, promotionLine("p", ``))
		task := generate(t, s, codex.CodeGeneration{PromotionID: "p", Count: count})
		made := func() (n int) {
			require.NoError(t, e.SQL(t).QueryRow(`SELECT COUNT(*) FROM promotion_code`).Scan(&n))
			return n
		}
		for _, enough := range []int{1, count / 3, count / 2} {
			stop := working(t, s)
			Soon(t, true, func() bool { return made() >= enough })
			stop()
			between, err := s.Job(t.Context(), task.ID)
			require.NoError(t, err)
			if between.State == job.JobQueued {
				require.Equal(t, made(), between.Done, "the progress is what is there")
			}
		}
		working(t, s)
		task = ended(t, s, task.ID)
		require.Equal(t, job.JobSucceeded, task.State, task.Error)
		require.Equal(t, []int{count, count}, []int{task.Done, task.Total})
		require.Equal(t, count, made())
		require.Len(t, exportedCodes(t, s, "p"), count)
	}
}

// generateContended ends the lease of a job again and again while three workers
// are at it, as where servers stand still for some time.
func generateContended(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		count := Pick(6_000, 60_000)
		s, _ := promoted(t, e, promotionLine("p", ``))
		task := generate(t, s, codex.CodeGeneration{PromotionID: "p", Count: count})
		for _, s := range []*shop.Store{s, e.Open(t), e.Open(t)} {
			working(t, s)
		}
		Soon(t, true, func() bool {
			_, err := e.SQL(t).ExecContext(t.Context(), `UPDATE job SET beat_at = 1 WHERE finished_at = 0`)
			require.NoError(t, err)
			task, err = s.Job(t.Context(), task.ID)
			require.NoError(t, err)
			return !task.FinishedAt.IsZero()
		})
		require.Equal(t, job.JobSucceeded, task.State, task.Error)
		require.Len(t, exportedCodes(t, s, "p"), count)
	}
}

func generateCanceled(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := promoted(t, e, promotionLine("p", ``))
		task := generate(t, s, codex.CodeGeneration{PromotionID: "p", Count: 1_000_000})
		working(t, s)
		Soon(t, true, func() bool { return len(exportedCodes(t, s, "p")) > 0 })
		_, err := s.CancelJob(t.Context(), actor, task.ID)
		require.NoError(t, err)
		task = ended(t, s, task.ID)
		require.Equal(t, job.JobCanceled, task.State)
		require.Len(t, exportedCodes(t, s, "p"), task.Done)
		require.Less(t, task.Done, 1_000_000)
	}
}

func generateEnded(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s, clock := promoted(t, e, promotionLine("p", ``), promotionLine("q", ``))
		expired := generate(t, s, codex.CodeGeneration{PromotionID: "p", Count: 10})
		deleted := generate(t, s, codex.CodeGeneration{PromotionID: "q", Count: 10})
		require.NoError(t, deletePromotion(t.Context(), s, actor, "q"))
		clock.Set(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
		working(t, s)
		for id, words := range map[string]string{expired.ID: "ended", deleted.ID: `no promotion "q"`} {
			task := ended(t, s, id)
			require.Equal(t, job.JobFailed, task.State)
			require.Contains(t, task.Error, words)
		}
	}
}

func codesExported(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		lines := []string{promotionLine("p", ``), promotionLine("q", ``), code("q", "OTHER", ``)}
		var want []string
		for i := range 5000 { // several pages
			want = append(want, fmt.Sprintf("C%05d", i))
			lines = append(lines, code("p", want[i], `,"max_uses":3`))
		}
		s, _ := promoted(t, e, lines...)
		require.Equal(t, want, exportedCodes(t, s, "p"))
		err := s.EachPromotionCode(t.Context(), "none", nil)
		requireFault(t, err, store.NotFound, "")
	}
}

var summerCode = regexp.MustCompile(`^SUMMER-[a-j]{5}-[a-j]{3}$`)
