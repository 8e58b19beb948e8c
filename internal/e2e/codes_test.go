package e2e

import (
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/job"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

const springPromotion = `{"type":"promotion","id":"spring","name":"Spring","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`

func withSpring(t *testing.T, e storetest.Backend) *shop.Store {
	t.Helper()
	s := e.Open(t)
	_, err := s.Exchange.Import(t.Context(), "test", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(springPromotion)), nil },
		exchange.ImportOptions{})
	require.NoError(t, err)
	return s
}

func TestCodesCommands(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		withSpring(t, e)
		database := []string{"--promotion", "spring", "--database-url", e.URL(t)}
		out := mustRun(t, append([]string{"codes", "generate", "--count", "2500", "--pattern", "SUMMER-####-####", "--uses", "2"},
			database...)...)
		require.Contains(t, out, "generated 2500 codes; guessing one takes 4.4e+08 attempts")
		rows, err := csv.NewReader(strings.NewReader(mustRun(t, append([]string{"codes", "export", "-"}, database...)...))).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 2501)
		require.Equal(t, []string{"code", "max_uses", "uses", "used", "consume_unit", "user", "created_at"}, rows[0])
		require.Regexp(t, `^SUMMER-[0-9A-Z]{4}-[0-9A-Z]{4}$`, rows[1][0])
		require.Equal(t, []string{"2", "2", "0", "per_cart", ""}, rows[1][1:6])
		file := filepath.Join(t.TempDir(), "codes.ndjson")
		require.Contains(t, mustRun(t, append([]string{"codes", "export", "--format", "ndjson", file}, database...)...),
			"exported 2500 codes to "+file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, 2500, bytes.Count(text, []byte("\n")))
		require.Contains(t, mustRun(t, "import", file, "--database-url", e.URL(t)), "2500 promotion_code", "can be imported")
		code, _, stderr := portico(t, append([]string{"codes", "generate", "--count", "2500", "--pattern", "A-##"}, database...)...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "pattern is too small for 2500 codes: it allows 1024")
	})
}

// TestCodesGenerateSurvivesKill kills the command. Another worker must then create exactly the
// missing codes.
func TestCodesGenerateSurvivesKill(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestWriteOutcomes and TestWritesAreLinearizable of store/shop interrupt writes without kills")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		const codes = 40_000
		s := withSpring(t, e)
		made := func() (n int) {
			require.NoError(t, e.SQL(t).QueryRow(`SELECT COUNT(*) FROM promotion_code`).Scan(&n))
			return n
		}
		generating := command("codes", "generate", "--promotion", "spring", "--count", "40000", "--database-url", e.URL(t))
		require.NoError(t, generating.Start())
		for made() == 0 {
			time.Sleep(time.Millisecond)
		}
		_ = generating.Process.Kill()
		_ = generating.Wait()
		require.Less(t, made(), codes, "killed before the end")
		later := e.Open(t, func(c *shop.Config) { c.Clock = func() time.Time { return time.Now().Add(time.Minute) } }) // after the lease of the worker
		working, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); later.Jobs.Work(working) }()
		defer func() { stop(); <-done }()
		for {
			jobs, err := s.Jobs.List(t.Context(), 1)
			require.NoError(t, err)
			if !jobs[0].FinishedAt.IsZero() {
				require.Equal(t, job.Succeeded, jobs[0].State, jobs[0].Error)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		require.Equal(t, codes, made())
		var distinct int
		require.NoError(t, e.SQL(t).QueryRow(`SELECT COUNT(*) FROM code_claim`).Scan(&distinct))
		require.Equal(t, codes, distinct)
	})
}
