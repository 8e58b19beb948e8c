package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/storetest"
)

// The shop before, and the one that takes its place: the first products of
// both are the same.
const (
	fewProducts  = 200
	manyProducts = 1200
)

// moments is at how many moments a process is killed, spread over the time it
// takes when it is not. What is asserted holds wherever a kill falls.
func moments() int {
	if testing.Short() {
		return 2
	}
	return 5
}

// shopOf is a generated shop of so many products.
func shopOf(products int) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		var shop bytes.Buffer
		err := store.Generate(&shop, products, 1)
		return io.NopCloser(&shop), err
	}
}

// serveFew opens a store that serves the small shop.
func serveFew(t *testing.T, e storetest.Engine) *store.Store {
	t.Helper()
	s := e.Open(t)
	fill(t, s, fewProducts)
	publishAll(t, s)
	return s
}

// publishAll publishes the shop, and tells how many products are found then.
func publishAll(t *testing.T, s *store.Store) int {
	t.Helper()
	ids, err := s.CatalogIDs(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		_, err = s.Publish(t.Context(), "test", id, nil)
		require.NoError(t, err)
	}
	total, err := listed(t.Context(), s)
	require.NoError(t, err)
	return total
}

func fill(t *testing.T, s *store.Store, products int) {
	t.Helper()
	_, err := s.Import(t.Context(), "test", shopOf(products), store.ImportOptions{})
	require.NoError(t, err)
}

// listed is how many products a shopper finds, and reads a page of them.
func listed(ctx context.Context, s *store.Store) (int, error) {
	view, err := s.View(ctx, store.ShopperContext{})
	if err != nil {
		return 0, err
	}
	first := 100
	page, err := view.Products(ctx, store.ProductQuery{Page: store.Page{First: &first}})
	if err != nil {
		return 0, err
	}
	if len(page.Items) != first {
		return 0, fmt.Errorf("a page of %d products, not %d", len(page.Items), first)
	}
	return page.Total(ctx)
}

// process runs portico until its end, or kills it after some time. What
// shoppers find meanwhile must be one of the totals.
func process(t *testing.T, s *store.Store, after time.Duration, totals []int, args ...string) (killed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	executable, err := os.Executable()
	require.NoError(t, err)
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, executable, args...) // ends it by SIGKILL
	command.Args[0] = "portico"
	command.Stderr = &stderr
	require.NoError(t, command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	for {
		total, err := listed(t.Context(), s)
		require.NoError(t, err)
		require.Contains(t, totals, total, "products found while portico %s runs", args[0])
		select {
		case err := <-ended:
			if ctx.Err() != nil {
				return true
			}
			require.NoError(t, err, stderr.String())
			return false
		case <-time.After(5 * time.Millisecond): // leaves the processor to it
		}
	}
}

// authored is what a store holds, but for what names the moment of an import:
// the ledger's lines, which are counted, and the times of stock.
func authored(t *testing.T, s *store.Store) string {
	t.Helper()
	var out, kept bytes.Buffer
	_, err := s.Export(t.Context(), &out, store.ExportOptions{})
	require.NoError(t, err)
	ledger := 0
	for line := range strings.Lines(out.String()) {
		switch {
		case strings.HasPrefix(line, `{"type":"stock_transaction"`):
			ledger++
			continue
		case strings.HasPrefix(line, `{"type":"stock"`):
			line, _, _ = strings.Cut(line, `,"created_at"`)
			line += "\n"
		}
		kept.WriteString(line)
	}
	fmt.Fprintf(&kept, "lines in the ledger: %d\n", ledger)
	return kept.String()
}

// undisturbed is a store into which both shops came without a fault: what it
// holds, and the totals that shoppers found before and after.
func undisturbed(t *testing.T, e storetest.Engine) (holds string, few, many int) {
	t.Helper()
	s := e.Open(t)
	fill(t, s, fewProducts)
	few = publishAll(t, s)
	fill(t, s, manyProducts)
	many = publishAll(t, s)
	require.Greater(t, many, few)
	return authored(t, s), few, many
}

// requireWhole opens a store anew, and holds it against an undisturbed one.
func requireWhole(t *testing.T, e storetest.Engine, holds string, many int) {
	t.Helper()
	later := storetest.NewClock(time.Now().Add(time.Hour / 2)) // by when a build that does not move is given up
	s := e.Open(t, func(config *store.Config) { config.Clock = later.Now })
	total, err := listed(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, many, total)
	require.Equal(t, holds, authored(t, s))

	require.NoError(t, s.Sweep(t.Context(), "test"))
	var leftovers int
	require.NoError(t, e.SQL(t).QueryRow(`SELECT COUNT(*) FROM release WHERE state <> 'published'`).Scan(&leftovers))
	require.Zero(t, leftovers, "releases that were never finished")
}

// kill runs a command line to its end to see how long it takes, then kills it
// at several moments of that time; each time a second run must make it whole.
func kill(t *testing.T, e storetest.Engine, prepare func(*testing.T) *store.Store, command ...string) {
	var holds string
	var totals []int
	t.Run("undisturbed", func(t *testing.T) {
		var few, many int
		holds, few, many = undisturbed(t, e)
		totals = []int{few, many}
	})
	var took time.Duration
	runs := moments()
	for n := runs + 1; n > 0; n-- {
		t.Run(fmt.Sprintf("after %d of %d parts", n, runs+1), func(t *testing.T) {
			s := prepare(t)
			args := append(command, "--database-url", e.URL(t), "--synchronous", "OFF")
			if n > runs { // the first
				begin := time.Now()
				process(t, s, time.Hour, totals, args...)
				took = time.Since(begin)
			} else if killed := process(t, s, took*time.Duration(n)/time.Duration(runs+1), totals, args...); !killed {
				t.Log("it was done before it was killed")
			}
			total, err := listed(t.Context(), s)
			require.NoError(t, err)
			require.Contains(t, totals, total)
			process(t, s, time.Hour, totals, args...)
			requireWhole(t, e, holds, totals[1])
		})
	}
}

func TestImportSurvivesAKill(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		kill(t, e, func(t *testing.T) *store.Store { return serveFew(t, e) },
			"import", "--generate", strconv.Itoa(manyProducts))
	})
}

func TestPublishSurvivesAKill(t *testing.T) {
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		kill(t, e, func(t *testing.T) *store.Store {
			s := serveFew(t, e)
			fill(t, s, manyProducts)
			return s
		}, "publish")
	})
}
