package promotion_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/promotion"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// requireCodesClaimed checks that no two promotions that have not ended share a code, and that
// each of their codes has a claim.
func requireCodesClaimed(t require.TestingT, db *sql.DB, now time.Time) {
	for name, query := range map[string]string{
		"codes that several promotions have": `
			SELECT COUNT(*) FROM (
			    SELECT code FROM promotion_code
			    JOIN promotion ON promotion.number = promotion_code.promotion_number AND promotion.epoch = promotion_code.epoch
			    WHERE end_at > $1 GROUP BY code HAVING COUNT(*) > 1) AS shared`,
		"codes that nobody holds": `
			SELECT COUNT(*) FROM promotion_code
			JOIN promotion ON promotion.number = promotion_code.promotion_number AND promotion.epoch = promotion_code.epoch
			LEFT JOIN code_claim ON code_claim.code = promotion_code.code
			     AND code_claim.promotion_number = promotion.number AND code_claim.epoch = promotion.epoch
			WHERE end_at > $1 AND code_claim.code IS NULL`,
	} {
		var n int
		require.NoError(t, db.QueryRow(query, now.UnixMicro()).Scan(&n))
		require.Zero(t, n, name)
	}
	storetest.RequireTotals(t, db)
}

// codesModel draws writes of promotions and codes, and compares with a model of which codes
// each promotion has.
func codesModel(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		backend.FullTestsOnlyOnPostgres(t)
		d := storetest.NewSharedStore(t, backend)
		rapid.Check(t, func(r *rapid.T) {
			storetest.DeleteAllRows(r, d.DB)
			ends, codes := map[string]time.Time{}, map[string]map[string]bool{}
			live := func(id string) bool { return ends[id].After(d.Clock.Now()) }
			for _, id := range []string{"p", "q", "r"} {
				storetest.CreatePromotion(t, d.Store, id, d.Clock.Now())
				ends[id], codes[id] = d.Clock.Now().Add(testkit.Day), map[string]bool{}
			}
			for range rapid.IntRange(1, 12).Draw(r, "writes") {
				id := rapid.SampledFrom([]string{"p", "q", "r"}).Draw(r, "promotion")
				batch := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"A", "B", "C", "D", "E"}), 1, 4, rapid.ID).Draw(r, "codes")
				switch rapid.SampledFrom([]string{"add", "add", "add", "remove", "wait", "extend", "sweep"}).Draw(r, "write") {
				case "add":
					free := live(id)
					for other := range codes {
						for _, code := range batch {
							free = free && !(live(other) && codes[other][code])
						}
					}
					err := storetest.AddCodes(d.Store, id, batch...)
					require.Equal(r, free, err == nil, "%v to %s: %v", batch, id, err)
					for _, code := range batch {
						codes[id][code] = codes[id][code] || free
					}
				case "remove":
					known := true
					for _, code := range batch {
						known = known && codes[id][code]
					}
					_, err := d.Codes.Delete(t.Context(), storetest.Actor, id, batch)
					require.Equal(r, known, err == nil)
					for _, code := range batch {
						codes[id][code] = codes[id][code] && !known
					}
				case "wait":
					d.Clock.Advance(testkit.Day / 2)
				case "extend":
					if !live(id) {
						codes[id] = map[string]bool{}
					}
					ends[id] = d.Clock.Now().Add(testkit.Day)
					_, err := d.Promotions.Update(t.Context(), storetest.Actor, id,
						promotion.Change{End: new(ends[id].Format(storetest.TimeFormat))}, false)
					require.NoError(r, err)
				case "sweep":
					require.NoError(r, d.Sweep(t.Context()))
				}
				for id, has := range codes {
					maps.DeleteFunc(has, func(_ string, there bool) bool { return !there })
					require.Equal(r, slices.Sorted(maps.Keys(has)), codesOf(t, d.Store, id), "the codes of %s", id)
				}
				requireCodesClaimed(r, d.DB, d.Clock.Now())
			}
		})
	}
}

// codesRaced makes many promotions compete for the same codes, in opposite orders, on two
// stores.
func codesRaced(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		stores := []*shop.Store{backend.Open(t, storetest.WithClock(clock)), backend.Open(t, storetest.WithClock(clock))}
		const writers = 12
		for n := range writers {
			storetest.CreatePromotion(t, stores[0], fmt.Sprint("p", n), testkit.Noon)
		}
		var group sync.WaitGroup
		var mu sync.Mutex
		taken := map[string]string{}
		for n := range writers {
			group.Go(func() {
				for round := range 12 {
					batch := []string{fmt.Sprint("A", round), fmt.Sprint("B", round), fmt.Sprint("C", round)}
					if n%2 == 0 {
						slices.Reverse(batch)
					}
					id := fmt.Sprint("p", n)
					err := storetest.AddCodes(stores[n%2], id, batch...)
					mu.Lock()
					if err == nil {
						for _, code := range batch {
							if taken[code] != "" {
								t.Errorf("%s and %s both have %s", taken[code], id, code)
							}
							taken[code] = id
						}
					} else if !store.HasCode(err, store.Unprocessable) {
						t.Errorf("%s: %v", id, err)
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		require.Len(t, taken, 36, "each code has a promotion")
		requireCodesClaimed(t, backend.SQL(t), testkit.Noon)
	}
}

// reenabledRaced enables promotions again and again while codes are added to them and taken by
// another.
func reenabledRaced(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		storetest.CreatePromotion(t, s, "p", testkit.Noon)
		storetest.CreatePromotion(t, s, "q", testkit.Noon)
		var group sync.WaitGroup
		for n := range 4 {
			group.Go(func() {
				for round := range 15 {
					switch n {
					case 0: // ends it and enables it again
						for _, end := range []time.Time{testkit.Noon.Add(-time.Minute), testkit.Noon.Add(testkit.Day)} {
							_, err := s.Promotions.Update(context.Background(), storetest.Actor, "p",
								promotion.Change{Start: new("2024-01-01"), End: new(end.Format(storetest.TimeFormat))}, false)
							if err != nil {
								t.Error(err)
							}
						}
					case 1:
						_ = s.Sweep(context.Background())
					default:
						_ = storetest.AddCodes(s, []string{"p", "q"}[n%2], fmt.Sprint("A", round), fmt.Sprint("B", round%3))
					}
				}
			})
		}
		group.Wait()
		var shared int
		require.NoError(t, backend.SQL(t).QueryRow(`
			SELECT COUNT(*) FROM (
			    SELECT code_claim.code FROM code_claim
			    JOIN promotion ON promotion.number = code_claim.promotion_number AND promotion.epoch = code_claim.epoch
			    JOIN promotion_code ON promotion_code.promotion_number = promotion.number AND promotion_code.epoch = promotion.epoch AND promotion_code.code = code_claim.code
			    GROUP BY code_claim.code HAVING COUNT(*) > 1) AS shared`).Scan(&shared))
		require.Zero(t, shared)
		requireCodesClaimed(t, backend.SQL(t), testkit.Noon)
	}
}
