package exchange_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// planned returns what an import would do: a line for each change, and the plan.
func planned(t require.TestingT, s *shop.Store, text string, options exchange.ImportOptions) (changes []string, plan *exchange.ImportPlan) {
	plan, err := s.Exchange.PlanImport(context.Background(), storetest.Actor, storetest.Source(text), options, func(c exchange.PlannedChange) {
		line := fmt.Sprintf("%d %s %s created=%t", c.Line, c.Type, c.ID, c.Created)
		require.Equal(t, c.Deleted, len(c.Members) == 0, line)
		for _, m := range c.Members {
			if c.Created {
				break
			}
			line += fmt.Sprintf(" %s:%s->%s", strings.Join(m.Path, "."), m.Before, m.After)
		}
		changes = append(changes, line)
	})
	require.NoError(t, err)
	return changes, plan
}

// TestImportPlan checks what a plan says about each kind of change, and that it writes nothing.
func TestImportPlan(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		clock := testkit.NewClock(time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC))
		s, db := backend.Open(t, storetest.WithClock(clock)), backend.SQL(t)
		const stock = `{"type":"stock","id":"mug","available":%d,"allocated":0,"total":%[1]d}`
		untimed := `{"type":"product","id":"mug","attributes":{"name":"%s","sku":"MUG","slug":"mug","status":"live"%s},"relationships":{}}`
		for _, c := range []struct {
			name    string
			stored  []string
			lines   []string
			options exchange.ImportOptions
			changes []string
			kept    int
		}{
			{"a new product", nil, []string{product("mug", ``, ``)}, exchange.ImportOptions{}, []string{"1 product mug created=true"}, 0},
			{"the same again", []string{product("mug", ``, ``)}, []string{product("mug", ``, ``)}, exchange.ImportOptions{}, nil, 0},
			{"members", []string{product("mug", `,"upc_ean":"1","tags":["a"]`, ``)}, []string{product("mug", `,"tags":["a","b"],"description":"x"`, ``)}, exchange.ImportOptions{},
				[]string{`1 product mug created=false attributes.description:->"x" attributes.tags:["a"]->["a","b"] attributes.upc_ean:"1"-> attributes.updated_at:"2026-01-01T00:00:00.000Z"->"2031-01-01T00:00:00.000Z"`}, 0},
			{"the last line of an id counts", []string{product("mug", ``, ``)}, []string{product("mug", `,"description":"x"`, ``), product("mug", ``, ``)}, exchange.ImportOptions{}, nil, 0},
			{"times that a line leaves out", []string{fmt.Sprintf(untimed, "Mug", "")}, []string{fmt.Sprintf(untimed, "Mug", "")}, exchange.ImportOptions{}, nil, 0},
			{"stock stays", []string{product("mug", ``, ``), fmt.Sprintf(stock, 3)}, []string{fmt.Sprintf(stock, 4)}, exchange.ImportOptions{}, nil, 1},
			{"stock on request", []string{product("mug", ``, ``), fmt.Sprintf(stock, 3)}, []string{fmt.Sprintf(stock, 4)}, exchange.ImportOptions{Stock: true},
				[]string{`1 stock mug created=false available:3->4 total:3->4`}, 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				storetest.DeleteAllRows(t, db)
				if len(c.stored) > 0 {
					storetest.Import(t, s, storetest.JoinLines(c.stored...))
				}
				before := storetest.Export(t, s)
				changes, plan := planned(t, s, storetest.JoinLines(c.lines...), c.options)
				require.Equal(t, c.changes, changes)
				require.Equal(t, c.kept, plan.Skipped["stock"])
				require.Equal(t, before, storetest.Export(t, s), "it writes nothing")
			})
		}
		t.Run("errors are those of an import", func(t *testing.T) {
			_, err := s.Exchange.PlanImport(t.Context(), storetest.Actor, storetest.Source(`{"type":"file"}`), exchange.ImportOptions{}, nil)
			require.NotEmpty(t, storetest.ImportErrors(t, err))
		})
	})
}

// TestImportDoesWhatIsPlanned draws changes of a shop: the import changes as many resources of each
// file as the plan says, and the next plan has none.
func TestImportDoesWhatIsPlanned(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		lines := strings.Split(strings.TrimSpace(storetest.Export(t, s)), "\n")
		rapid.Check(t, func(t *rapid.T) {
			var drawn []string
			for _, line := range lines {
				if strings.Contains(line, `"type":"stock`) || strings.Contains(line, `"type":"api_client"`) {
					continue // the service's own
				}
				switch rapid.IntRange(0, 9).Draw(t, "change") {
				case 0:
					drawn = append(drawn, strings.Replace(line, `"name":"`, `"name":"`+rapid.StringMatching(`[A-Z]`).Draw(t, "letter"), 1))
				case 1:
					drawn = append(drawn, line)
				}
			}
			text := storetest.JoinLines(drawn...)
			options := exchange.ImportOptions{Settings: true}
			changes, _ := planned(t, s, text, options)
			report, err := s.Exchange.Import(context.Background(), storetest.Actor, storetest.Source(text), options)
			require.NoError(t, err)
			require.Equal(t, len(changes), report.Changed, "%v", changes)
			changes, _ = planned(t, s, text, options)
			require.Empty(t, changes)
		})
	})
}
