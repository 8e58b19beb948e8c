package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/datagen"
	"portico/store"
	"portico/store/exchange"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// Sizes of the first shop and of the one that replaces it. They share the first products.
const (
	fewProducts  = 200
	manyProducts = 1200
)

// stage is the moment to kill a process: when a count exceeds its value at the start, or at once
// without a count. The assertions hold for any moment.
type stage struct{ name, count string }

// publishStages are the stages of a publication.
var publishStages = []stage{
	{"as it starts", ""},
	{"with a release begun", `SELECT COUNT(*) FROM release`},
	{"with some of its files", `SELECT COUNT(*) FROM release_file`},
	{"with some of its products", `SELECT COUNT(*) FROM release_block`},
	{"with its lists", `SELECT COUNT(*) FROM release_list`},
	{"when it is published", `SELECT COUNT(*) FROM release WHERE state = 'published'`},
}

// importStages are the stages of an import, before it publishes.
var importStages = []stage{
	{"as it starts", ""},
	{"with some files", `SELECT COUNT(*) FROM file`},
	{"with some products", `SELECT COUNT(*) FROM product`},
	{"with some prices", `SELECT COUNT(*) FROM price`},
	{"with some stock", `SELECT COUNT(*) FROM stock`},
}

// generatedShop returns a generated shop of a number of products.
func generatedShop(products int) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		var shop bytes.Buffer
		err := datagen.WriteShop(&shop, products, 1)
		return io.NopCloser(&shop), err
	}
}

// serveFew opens a store with the small shop published.
func serveFew(t *testing.T, e storetest.Backend) *shop.Store {
	t.Helper()
	s := e.Open(t)
	fill(t, s, fewProducts)
	publishAll(t, s)
	return s
}

// publishAll publishes the shop and returns the number of visible products.
func publishAll(t *testing.T, s *shop.Store) int {
	t.Helper()
	ids, err := s.Releases.CatalogIDs(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		_, err = s.Publisher.Publish(t.Context(), "test", id, nil)
		require.NoError(t, err)
	}
	total, err := listed(t.Context(), s)
	require.NoError(t, err)
	return total
}

func fill(t *testing.T, s *shop.Store, products int) {
	t.Helper()
	_, err := s.Exchange.Import(t.Context(), "test", generatedShop(products), exchange.ImportOptions{})
	require.NoError(t, err)
}

// listed returns the number of visible products, and reads a page of them.
func listed(ctx context.Context, s *shop.Store) (int, error) {
	view, err := s.Releases.View(ctx, release.ShopperContext{})
	if err != nil {
		return 0, err
	}
	first := 100
	page, err := view.Products(ctx, release.ProductQuery{Page: store.Page{First: &first}})
	if err != nil {
		return 0, err
	}
	if len(page.Items) != first {
		return 0, fmt.Errorf("a page of %d products, not %d", len(page.Items), first)
	}
	return page.Total(ctx)
}

// runOrKill runs a command to its end, or kills it when isTime is true. Until then, the number of
// visible products must be one of totals.
func runOrKill(t *testing.T, s *shop.Store, isTime func() bool, totals []int, args ...string) (killed bool) {
	t.Helper()
	var stderr bytes.Buffer
	process := command(args...)
	process.Stderr = &stderr
	require.NoError(t, process.Start())
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	for {
		if isTime() {
			killed = true
			_ = process.Process.Kill() // it may have ended
			<-ended
		}
		total, err := listed(t.Context(), s)
		require.NoError(t, err)
		require.Contains(t, totals, total, "products found while portico %s runs", args[0])
		if killed {
			return true
		}
		select {
		case err := <-ended:
			require.NoError(t, err, stderr.String())
			return false
		case <-time.After(time.Millisecond): // yields the CPU
		}
	}
}

// never lets runOrKill run to the end.
func never() bool { return false }

// updatedAt is the time of the last change in an exported line.
var updatedAt = regexp.MustCompile(`,"updated_at":"[^"]*"`)

// contentsOf returns the content of a store without what depends on the time of an import: ledger
// lines, which it counts, and stock times.
func contentsOf(t *testing.T, s *shop.Store) string {
	t.Helper()
	var out, kept bytes.Buffer
	_, err := s.Exchange.Export(t.Context(), &out, exchange.ExportOptions{})
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
		case strings.HasPrefix(line, `{"type":"node"`), strings.HasPrefix(line, `{"type":"hierarchy"`):
			line = updatedAt.ReplaceAllString(line, "") // the time of the import: the generated shop has none
		}
		kept.WriteString(line)
	}
	fmt.Fprintf(&kept, "lines in the ledger: %d\n", ledger)
	return kept.String()
}

// uninterrupted imports both shops without interruption, and returns the content of the store and
// the numbers of visible products.
func uninterrupted(t *testing.T, e storetest.Backend) (holds string, few, many int) {
	t.Helper()
	s := e.Open(t)
	fill(t, s, fewProducts)
	few = publishAll(t, s)
	fill(t, s, manyProducts)
	many = publishAll(t, s)
	require.Greater(t, many, few)
	return contentsOf(t, s), few, many
}

// requireComplete reopens a store and compares it with an uninterrupted one.
func requireComplete(t *testing.T, e storetest.Backend, holds string, many int) {
	t.Helper()
	s := e.Open(t)
	total, err := listed(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, many, total)
	require.Equal(t, holds, contentsOf(t, s))

	storetest.AgeBuilds(t, e.SQL(t))
	require.NoError(t, s.Sweep(t.Context()))
	var leftovers int
	require.NoError(t, e.SQL(t).QueryRow(`SELECT COUNT(*) FROM release WHERE state <> 'published'`).Scan(&leftovers))
	require.Zero(t, leftovers, "no unfinished releases")
}

// kill kills a command at each stage and runs it again, which must complete the store.
func kill(t *testing.T, e storetest.Backend, stages []stage, prepare func(*testing.T) *shop.Store, line ...string) {
	t.Helper()
	e.FullTestsOnlyOnPostgres(t)
	var holds string
	var totals []int
	t.Run("uninterrupted", func(t *testing.T) {
		var few, many int
		holds, few, many = uninterrupted(t, e)
		totals = []int{few, many}
	})
	if !testkit.FullTests() {
		stages = stages[1:3]
	}
	for _, stage := range stages {
		t.Run(stage.name, func(t *testing.T) {
			s, db := prepare(t), e.SQL(t)
			count := func() (n int) {
				if stage.count != "" {
					require.NoError(t, db.QueryRow(stage.count).Scan(&n))
				}
				return n
			}
			before := count()
			isTime := func() bool { return stage.count == "" || count() > before }
			args := slices.Concat(line, []string{"--database-url", e.URL(t), "--synchronous", "OFF"})
			if killed := runOrKill(t, s, isTime, totals, args...); !killed {
				t.Log("it was done before it was killed")
			}
			runOrKill(t, s, never, totals, args...)
			requireComplete(t, e, holds, totals[1])
		})
	}
}

func TestImportSurvivesKill(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestWriteOutcomes and TestWritesAreLinearizable of store/shop interrupt writes without kills")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		kill(t, e, importStages, func(t *testing.T) *shop.Store { return serveFew(t, e) },
			"import", "--generate", strconv.Itoa(manyProducts))
	})
}

func TestPublishSurvivesKill(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "TestWriteOutcomes and TestWritesAreLinearizable of store/shop interrupt writes without kills")
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		kill(t, e, publishStages, func(t *testing.T) *shop.Store {
			s := serveFew(t, e)
			fill(t, s, manyProducts)
			return s
		}, "publish")
	})
}
