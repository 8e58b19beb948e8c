package publish_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/publish/compare"
	"portico/store/release/segment"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestDryRunEqualsPublication draws changes of a shop: a dry run says what the publication then changes, by the
// counts of the release and by a comparison of both releases, and writes nothing.
func TestDryRunEqualsPublication(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for seed := range uint64(testkit.QuickOrFull(1, 2)) {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				url := backend.OtherURL(t)
				open := func(config *shop.Config) { config.URL, config.Clock = url, testkit.NewClock(testkit.Noon).Now }
				s := backend.Open(t, open)
				plain := backend.Open(t, open, storetest.WithoutDeltas)
				storetest.Import(t, s, storetest.ShopFile)
				first, err := s.Publisher.DryRun(t.Context(), "main", math.MaxInt, nil)
				require.NoError(t, err)
				before := publishBy(t, s)
				require.Equal(t, compare.DifferenceCount{Added: before.Products}, first.Counts[compare.ResourceProduct])
				c := newRandomShop(t, s, seed+40)
				deltas, publications, rounds := 0, 0, testkit.QuickOrFull(8, 16)
				for round := range rounds {
					for range c.IntN(5) {
						c.step(t)
					}
					by := s
					if round%4 == 3 { // a whole release
						by = plain
					}
					planned, err := s.Publisher.DryRun(t.Context(), "main", math.MaxInt, nil)
					require.NoError(t, err)
					whole, err := plain.Publisher.DryRun(t.Context(), "main", math.MaxInt, nil)
					require.NoError(t, err)
					require.Equal(t, whole, planned, "with and without deltas: %s", c.done)
					now := publishBy(t, by)
					if now.ID == before.ID {
						require.Zero(t, planned.Total(), c.done)
						continue
					}
					publications++
					if now.BaseID != 0 {
						deltas++
					}
					require.NotZero(t, planned.Total(), c.done)
					require.Equal(t, compare.DifferenceCount{Added: now.Added, Changed: now.Changed, Removed: now.Removed}, planned.Counts[compare.ResourceProduct], c.done)
					stored, err := s.Publisher.DiffReleases(t.Context(), before.UUID(), now.UUID(), math.MaxInt, 0)
					require.NoError(t, err)
					require.Equal(t, now.ID, stored.To)
					stored.To = 0
					require.Equal(t, stored, planned, c.done)
					for _, d := range planned.List {
						require.Equal(t, d.Effect == compare.PendingChange, len(d.Members) > 0, "%s %s has members if it changes", d.Kind, d.ID)
					}
					back, err := s.Publisher.DiffReleases(t.Context(), now.UUID(), before.UUID(), 1, 0)
					require.NoError(t, err)
					require.Equal(t, planned.Total(), back.Total())
					require.Len(t, back.List, 1)
					before = now
				}
				require.NotZero(t, deltas)
				require.Less(t, deltas, publications, "some are whole")
			})
		}
	})
}

// publishBy publishes catalog main.
func publishBy(t *testing.T, s *shop.Store) *segment.Release {
	made, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
	require.NoError(t, err)
	return made
}

// TestDryRun checks what a dry run says of each kind of change, that it writes nothing, and what bounds it.
func TestDryRun(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, db := backend.Open(t, storetest.WithClock(testkit.NewClock(testkit.Noon))), backend.SQL(t)
		storetest.Import(t, s, storetest.ShopFile)
		storetest.Publish(t, s, "main")
		require.Empty(t, dryRun(t, s))
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For glue."`)))
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "anvil", `"live"`, `"draft"`)))
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product-price", "standard-brush", `500`, `700`)))
		storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("node", "paints", `"Paints"`, `"Colours"`)))
		storetest.Import(t, s, `{"type":"redirect","id":"old-paints","attributes":{"from":"old-paints","to":"paints"}}`)
		storetest.Import(t, s, `{"type":"synonym","id":"glue","attributes":{"kind":"equivalent","terms":["glue","paste"]}}`)
		rows := map[string]int{}
		for _, table := range []string{"release", "release_block", "release_file", "release_change", "job"} {
			rows[table] = storetest.CountRows(t, db, table)
		}
		list := dryRun(t, s)
		for table, count := range rows {
			require.Equal(t, count, storetest.CountRows(t, db, table), "rows of %s", table)
		}
		require.Equal(t, []string{
			`product anvil remove Anvil`,
			`product brush change Brush attributes.description:"For paint."->"For glue." prices.USD.amount:500->700`,
			`node paints change Colours attributes.name:"Paints"->"Colours"`,
			`node tools change Tools attributes.curated_products:["chalk","anvil"]->["chalk"]`,
			`synonym glue add glue, paste`,
			`redirect old-paints add old-paints`,
		}, list)
		_, err := s.Publisher.DryRun(t.Context(), "none", 1, nil)
		storetest.RequireError(t, err, store.NotFound, "")
		bounded, err := s.Publisher.DryRun(t.Context(), "main", 1, nil)
		require.NoError(t, err)
		require.Len(t, bounded.List, 1)
		require.Equal(t, len(list), bounded.Total())
	})
}

// dryRun returns a line for each resource that the next publication of main changes.
func dryRun(t *testing.T, s *shop.Store) (lines []string) {
	t.Helper()
	found, err := s.Publisher.DryRun(t.Context(), "main", math.MaxInt, nil)
	require.NoError(t, err)
	return differenceLines(found)
}

func differenceLines(d *compare.Differences) (lines []string) {
	for _, one := range d.List {
		line := fmt.Sprintf("%s %s %s %s", one.Kind, one.ID, one.Effect, one.Name)
		for _, m := range one.Members {
			line += fmt.Sprintf(" %s:%s->%s", strings.Join(m.Path, "."), short(m.Before), short(m.After))
		}
		lines = append(lines, line)
	}
	return lines
}

func short(raw json.RawMessage) string {
	if len(raw) > 60 {
		return string(raw[:60]) + "…"
	}
	return string(raw)
}
