package publish_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/job"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
)

// rolledBack has published three releases of the catalog main and serves the
// first one again. The names of its anvil are One, Two and Three.
func rolledBack(t *testing.T, s *shop.Store) (ids []string) {
	t.Helper()
	storetest.Import(t, s, storetest.ShopFile)
	for _, version := range []string{"One", "Two", "Three"} {
		storetest.RenameProducts(t, s, version)
		storetest.Publish(t, s, "main")
	}
	ids, _ = releasesOf(t, s, "main")
	serveRelease(t, s, ids[2])
	return ids
}

func serveRelease(t *testing.T, s *shop.Store, id string) {
	t.Helper()
	_, err := s.ServeRelease(t.Context(), storetest.Actor, id)
	require.NoError(t, err)
}

// anvilOf is what shoppers see.
func anvilOf(t *testing.T, s *shop.Store) string {
	return strings.TrimSuffix(storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "anvil").Name(), " Anvil")
}

// heldAt is the release at which the catalog main is held, 0 for none, by all
// that tell it.
func heldAt(t *testing.T, s *shop.Store) int64 {
	t.Helper()
	holds, err := s.HeldCatalogs(t.Context())
	require.NoError(t, err)
	main, err := s.Catalog(t.Context(), "main")
	require.NoError(t, err)
	explained, err := s.CatalogResolution(t.Context(), release.ShopperContext{}, nil)
	require.NoError(t, err)
	gauges, err := s.Gauges(t.Context())
	require.NoError(t, err)
	require.Equal(t, []bool{len(holds) > 0, len(holds) > 0, len(holds) > 0}, []bool{main.Held, explained.Catalog.Held, gauges.Catalogs[0].Held})
	if len(holds) == 0 {
		return 0
	}
	require.Len(t, holds, 1)
	require.Equal(t, "main", holds[0].CatalogID)
	return holds[0].ReleaseID
}

// A roll-back holds until somebody publishes on purpose, whatever else makes
// releases meanwhile.
func releaseHeld(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		unlessHeld := func(t *testing.T, s *shop.Store) {
			t.Helper()
			_, err := s.PublishUnlessHeld(t.Context(), storetest.Actor, "main", nil)
			var held *release.HeldError
			require.ErrorAs(t, err, &held)
			require.Equal(t, heldAt(t, s), held.Hold.ReleaseID)
			require.True(t, store.HasCode(err, store.Conflict))
		}
		for name, ends := range map[string]func(*testing.T, *shop.Store, []string){
			"a publication": func(t *testing.T, s *shop.Store, _ []string) { storetest.Publish(t, s, "main") },
			"a publication of what has changed": func(t *testing.T, s *shop.Store, _ []string) {
				storetest.RenameProducts(t, s, "Three") // as it is authored
				storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For painting."`)))
				storetest.Publish(t, s, "main")
			},
			"a job": func(t *testing.T, s *shop.Store, _ []string) {
				task, err := s.PublishLater(t.Context(), storetest.Actor, "main", true)
				require.NoError(t, err)
				storetest.RunWorker(t, s)
				storetest.Eventually(t, job.JobSucceeded, func() job.JobState {
					task, err = s.Job(t.Context(), task.ID)
					require.NoError(t, err)
					return task.State
				})
			},
			"the release it was rolled back from": func(t *testing.T, s *shop.Store, ids []string) { serveRelease(t, s, ids[0]) },
			"a preview": func(t *testing.T, s *shop.Store, _ []string) {
				made, err := s.Preview(t.Context(), storetest.Actor, "main", nil)
				require.NoError(t, err)
				require.NotZero(t, heldAt(t, s), "a preview is not served")
				serveRelease(t, s, made.UUID())
			},
		} {
			t.Run(name+" ends it", func(t *testing.T) {
				s := backend.Open(t)
				ids := rolledBack(t, s)
				require.Equal(t, ids[2], fmt.Sprint(heldAt(t, s)))
				unlessHeld(t, s)
				storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "jar", `"status":"live"`, `"status":"draft"`)))
				storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("catalog", "main", `"name":"Main"`, `"name":"Other"`)))
				unlessHeld(t, s)
				serveRelease(t, s, ids[1])
				unlessHeld(t, s)
				require.Equal(t, "Two", anvilOf(t, s))
				ends(t, s, ids)
				require.Equal(t, "Three", anvilOf(t, s))
				require.Zero(t, heldAt(t, s))
				storetest.RenameProducts(t, s, "Four")
				_, err := s.PublishUnlessHeld(t.Context(), storetest.Actor, "main", nil)
				require.NoError(t, err)
				require.Equal(t, "Four", anvilOf(t, s))
			})
		}
	}
}

// Where shoppers see what is authored, publishing on purpose makes no release,
// and ends the hold all the same.
func releaseHeldTheSame(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		ids := rolledBack(t, s)
		storetest.RenameProducts(t, s, "One")
		storetest.Publish(t, s, "main")
		require.Zero(t, heldAt(t, s))
		now, _ := releasesOf(t, s, "main")
		require.Equal(t, ids, now)
		serveRelease(t, s, ids[0])
		serveRelease(t, s, ids[2]) // which has the newest revision by now
		require.NotZero(t, heldAt(t, s))
		storetest.Publish(t, s, "main")
		require.Zero(t, heldAt(t, s))
	}
}

// What was begun before a roll-back does not undo it: a publication, or a job
// that waited.
func releaseHeldMeanwhile(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		ids := rolledBack(t, s)
		storetest.Publish(t, s, "main")
		for name, begun := range map[string]func(rollBack func()) error{
			"a publication": func(rollBack func()) error {
				_, err := s.Publish(t.Context(), storetest.Actor, "main", func(int, int) { rollBack() })
				return err
			},
			"an import's": func(rollBack func()) error {
				_, err := s.PublishUnlessHeld(t.Context(), storetest.Actor, "main", func(int, int) { rollBack() })
				return err
			},
		} {
			storetest.RenameProducts(t, s, "New "+name)
			once := false
			err := begun(func() {
				if !once {
					once = true
					serveRelease(t, s, ids[1])
				}
			})
			require.True(t, once, name)
			storetest.RequireError(t, err, store.Conflict, "", "rolled back")
			require.Equal(t, "Two", anvilOf(t, s), name)
			storetest.Publish(t, s, "main")
			require.Equal(t, "New "+name, anvilOf(t, s))
		}
		storetest.RenameProducts(t, s, "Queued")
		before, err := s.PublishLater(t.Context(), storetest.Actor, "main", true)
		require.NoError(t, err)
		serveRelease(t, s, ids[1])
		storetest.RunWorker(t, s)
		reached := func(task *job.Job) func() job.JobState {
			return func() job.JobState {
				now, err := s.Job(t.Context(), task.ID)
				require.NoError(t, err)
				return now.State
			}
		}
		storetest.Eventually(t, job.JobFailed, reached(before))
		require.Equal(t, "Two", anvilOf(t, s))
		after, err := s.PublishLater(t.Context(), storetest.Actor, "main", true)
		require.NoError(t, err)
		storetest.Eventually(t, job.JobSucceeded, reached(after))
		require.Equal(t, "Queued", anvilOf(t, s))
	}
}
