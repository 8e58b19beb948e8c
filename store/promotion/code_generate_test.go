package promotion_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/job"
	"portico/store/promotion/code"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestGenerateCodes checks that code.Service.Generate creates exactly the requested number of
// codes, also when workers fail.
func TestGenerateCodes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("codes match the pattern", generateByPattern(backend))
		t.Run("batches grow when the database is slow", generateSlowDatabase(backend))
		t.Run("a pattern with too few codes is refused", generateRefusals(backend))
		t.Run("each request is a job", generateTwice(backend))
		t.Run("queued codes are limited for each client and for all", generateLimited(backend))
		t.Run("the limits are configurable", generateConfiguredLimits(backend))
		t.Run("codes of other promotions are skipped", generateAround(backend))
		t.Run("a worker resumes a job", generateResumed(backend))
		t.Run("workers that lose their lease create each code once", generateLostLease(backend))
		t.Run("a canceled job keeps its codes", generateCanceled(backend))
		t.Run("a job ends with its promotion", generateEnded(backend))
		t.Run("codes are exported in order", codesExported(backend))
	})
}

func generateByPattern(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.PromotionLine("q", ``))
		storetest.RunWorker(t, s)
		task := storetest.WaitForJob(t, s, storetest.GenerateCodes(t, s,
			code.Generation{PromotionID: "p", Count: 5001, Pattern: "SUMMER-#####-###", Alphabet: "abcdefghij", Uses: new(3),
				ConsumeUnit: code.PerItem}).ID)
		require.Equal(t, job.Succeeded, task.State, task.Error)
		require.Equal(t, []int{5001, 5001}, []int{task.Done, task.Total})
		codes := storetest.ExportedCodes(t, s, "p")
		require.Len(t, codes, 5001)
		for _, code := range codes {
			require.Regexp(t, summerCode, code)
		}
		c, err := s.Codes.Get(t.Context(), codes[0])
		require.NoError(t, err)
		require.True(t, c.Valid())
		require.Equal(t, []any{3, code.PerItem, "p"}, []any{*c.MaxUses, c.ConsumeUnit, c.PromotionID})
	}
}

// generateSlowDatabase delays all traffic to and from the database, as a loaded server does. The job
// then takes few transactions.
func generateSlowDatabase(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		backend.PostgresOnly(t)
		storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``))
		network, address := backend.NewProxy(t)
		s := backend.Open(t, func(config *shop.Config) { config.URL = address })
		task := storetest.GenerateCodes(t, s, code.Generation{PromotionID: "p", Count: 6000})
		network.SetDelay(3 * time.Millisecond)
		ctx, counter := store.CountStatements(t.Context())
		ctx, stop := context.WithCancel(ctx)
		worked := make(chan struct{})
		go func() { defer close(worked); s.Jobs.Work(ctx) }()
		task = storetest.WaitForJob(t, s, task.ID)
		stop()
		<-worked
		require.Equal(t, job.Succeeded, task.State, task.Error)
		batches := countContaining(counter.Queries(), "UPDATE job SET result")
		require.LessOrEqual(t, batches, 24, "batches of at least 256 codes")
		network.SetDelay(0)
		require.Len(t, storetest.ExportedCodes(t, s, "p"), 6000)
	}
}

func generateRefusals(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.PromotionLine("auto", `,"automatic":true`),
			storetest.PromotionLine("over", `,"end":"2024-02-01"`))
		for _, c := range []struct {
			g      code.Generation
			code   store.Code
			member string
			words  string
		}{
			{code.Generation{PromotionID: "p", Count: 1001, Pattern: "X###-##", Alphabet: "0123456789"}, store.Unprocessable, "pattern",
				"it allows 100000, so that 1 in 99.9 guesses would find one, and at most 1 in 100 may"},
			{code.Generation{PromotionID: "p", Count: 11, Pattern: "#", Alphabet: "01"}, store.Unprocessable, "pattern",
				"it allows 2, so that 1 in 1 guesses would"},
			{code.Generation{PromotionID: "p", Count: 1, Pattern: "NONE"}, store.Unprocessable, "pattern", "SUMMER-####-####"},
			{code.Generation{PromotionID: "p", Count: 1, Pattern: "\x00#"}, store.Invalid, "pattern", "NUL"},
			{code.Generation{PromotionID: "p", Count: 1, Alphabet: "AAB"}, store.Unprocessable, "alphabet", "distinct"},
			{code.Generation{PromotionID: "p", Count: 1, Alphabet: "A"}, store.Unprocessable, "alphabet", "2 to 64"},
			{code.Generation{PromotionID: "p", Count: 1, Alphabet: "A B"}, store.Unprocessable, "alphabet", "visible"},
			{code.Generation{PromotionID: "p", Count: 0}, store.Unprocessable, "count", "10000000"},
			{code.Generation{PromotionID: "p", Count: 10_000_001}, store.Unprocessable, "count", "10000000"},
			{code.Generation{PromotionID: "p", Count: 1, Uses: new(0)}, store.Unprocessable, "uses", "1"},
			{code.Generation{PromotionID: "none", Count: 1}, store.NotFound, "promotion_id", "none"},
			{code.Generation{PromotionID: "auto", Count: 1}, store.Unprocessable, "promotion_id", "automatic"},
			{code.Generation{PromotionID: "over", Count: 1}, store.Unprocessable, "promotion_id", "ended"},
		} {
			_, _, err := s.Codes.Generate(t.Context(), storetest.Actor, c.g)
			storetest.RequireError(t, err, c.code, c.member, c.words)
		}
		_, odds, err := s.Codes.Generate(t.Context(), storetest.Actor,
			code.Generation{PromotionID: "p", Count: 1000, Pattern: "X###-##", Alphabet: "0123456789"})
		require.NoError(t, err)
		require.InDelta(t, 100, odds, 0.001)
	}
}

func generateTwice(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``))
		g := code.Generation{PromotionID: "p", Count: 10}
		first, second := storetest.GenerateCodes(t, s, g), storetest.GenerateCodes(t, s, g)
		require.NotEqual(t, first.ID, second.ID)
		storetest.RunWorker(t, s)
		storetest.WaitForJob(t, s, first.ID)
		storetest.WaitForJob(t, s, second.ID)
		require.Len(t, storetest.ExportedCodes(t, s, "p"), 20)
	}
}

// generateAround generates codes until the pattern has hardly any left.
func generateAround(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		left := testkit.QuickOrFull(10, 98)
		lines := []string{storetest.PromotionLine("p", ``), storetest.PromotionLine("q", ``)}
		for held := range 100 - left {
			lines = append(lines, storetest.CodeLine("q", fmt.Sprintf("%02d", held), ``))
		}
		s, _ := storetest.OpenWithLines(t, backend, lines...)
		storetest.RunWorker(t, s)
		g := code.Generation{PromotionID: "p", Count: 1, Pattern: "##", Alphabet: "0123456789"}
		for created := range left {
			task := storetest.WaitForJob(t, s, storetest.GenerateCodes(t, s, g).ID)
			require.Equal(t, job.Succeeded, task.State, "%d: %s", created, task.Error)
		}
		require.Len(t, storetest.ExportedCodes(t, s, "p"), left)
		task := storetest.WaitForJob(t, s, storetest.GenerateCodes(t, s, g).ID)
		require.Equal(t, job.Failed, task.State)
		require.Contains(t, task.Error, "almost no free codes left")
	}
}

// generateResumed stops workers in the middle of a job again and again.
func generateResumed(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		count := testkit.QuickOrFull(6_000, 30_000)
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``))
		task := storetest.GenerateCodes(t, s, code.Generation{PromotionID: "p", Count: count})
		created := func() (n int) {
			require.NoError(t, backend.SQL(t).QueryRow(`SELECT COUNT(*) FROM promotion_code`).Scan(&n))
			return n
		}
		for _, enough := range []int{1, count / 3, count / 2} {
			stop := storetest.RunWorker(t, s)
			testkit.Eventually(t, true, func() bool { return created() >= enough })
			stop()
			between, err := s.Jobs.Get(t.Context(), task.ID)
			require.NoError(t, err)
			if between.State == job.Queued {
				require.Equal(t, created(), between.Done, "progress counts the codes that exist")
			}
		}
		storetest.RunWorker(t, s)
		task = storetest.WaitForJob(t, s, task.ID)
		require.Equal(t, job.Succeeded, task.State, task.Error)
		require.Equal(t, []int{count, count}, []int{task.Done, task.Total})
		require.Equal(t, count, created())
		require.Len(t, storetest.ExportedCodes(t, s, "p"), count)
	}
}

// generateLostLease expires a job's lease again and again while three workers compete for it.
func generateLostLease(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		count := testkit.QuickOrFull(6_000, 60_000)
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``))
		task := storetest.GenerateCodes(t, s, code.Generation{PromotionID: "p", Count: count})
		for _, s := range []*shop.Store{s, backend.Open(t), backend.Open(t)} {
			storetest.RunWorker(t, s)
		}
		testkit.Eventually(t, true, func() bool {
			_, err := backend.SQL(t).ExecContext(t.Context(), `UPDATE job SET beat_at = 1 WHERE finished_at = 0`)
			require.NoError(t, err)
			task, err = s.Jobs.Get(t.Context(), task.ID)
			require.NoError(t, err)
			return !task.FinishedAt.IsZero()
		})
		require.Equal(t, job.Succeeded, task.State, task.Error)
		require.Len(t, storetest.ExportedCodes(t, s, "p"), count)
	}
}

func generateCanceled(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, _ := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``))
		task := storetest.GenerateCodes(t, s, code.Generation{PromotionID: "p", Count: 1_000_000})
		storetest.RunWorker(t, s)
		testkit.Eventually(t, true, func() bool { return len(storetest.ExportedCodes(t, s, "p")) > 0 })
		_, err := s.Jobs.Cancel(t.Context(), storetest.Actor, task.ID)
		require.NoError(t, err)
		task = storetest.WaitForJob(t, s, task.ID)
		require.Equal(t, job.Canceled, task.State)
		require.Len(t, storetest.ExportedCodes(t, s, "p"), task.Done)
		require.Less(t, task.Done, 1_000_000)
	}
}

func generateEnded(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, clock := storetest.OpenWithLines(t, backend, storetest.PromotionLine("p", ``), storetest.PromotionLine("q", ``))
		expired := storetest.GenerateCodes(t, s, code.Generation{PromotionID: "p", Count: 10})
		deleted := storetest.GenerateCodes(t, s, code.Generation{PromotionID: "q", Count: 10})
		require.NoError(t, storetest.DeletePromotion(t.Context(), s, storetest.Actor, "q"))
		clock.Set(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
		storetest.RunWorker(t, s)
		for id, words := range map[string]string{expired.ID: "ended", deleted.ID: `no promotion "q"`} {
			task := storetest.WaitForJob(t, s, id)
			require.Equal(t, job.Failed, task.State)
			require.Contains(t, task.Error, words)
		}
	}
}

func codesExported(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		lines := []string{storetest.PromotionLine("p", ``), storetest.PromotionLine("q", ``), storetest.CodeLine("q", "OTHER", ``)}
		var want []string
		for i := range 5000 { // several pages
			want = append(want, fmt.Sprintf("C%05d", i))
			lines = append(lines, storetest.CodeLine("p", want[i], `,"max_uses":3`))
		}
		s, _ := storetest.OpenWithLines(t, backend, lines...)
		require.Equal(t, want, storetest.ExportedCodes(t, s, "p"))
		err := s.Codes.Each(t.Context(), "none", nil)
		storetest.RequireError(t, err, store.NotFound, "")
	}
}

var summerCode = regexp.MustCompile(`^SUMMER-[a-j]{5}-[a-j]{3}$`)
