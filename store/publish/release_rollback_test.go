package publish_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/job"
	"portico/store/release"
	"portico/store/release/routing"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// rollBackToFirst publishes three releases of catalog main, whose anvils are One, Two and
// Three, and rolls back to the first.
func rollBackToFirst(t *testing.T, s *shop.Store) (ids []string) {
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
	_, err := s.Releases.Serve(t.Context(), storetest.Actor, id)
	require.NoError(t, err)
}

// anvilName returns the name that shoppers see.
func anvilName(t *testing.T, s *shop.Store) string {
	return strings.TrimSuffix(storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "anvil").Name(), " Anvil")
}

// heldRelease returns the release at which catalog main is held, or 0. All reads must agree.
func heldRelease(t *testing.T, s *shop.Store) int64 {
	t.Helper()
	holds, err := s.Releases.HeldCatalogs(t.Context())
	require.NoError(t, err)
	main, err := s.Catalogs.Get(t.Context(), "main")
	require.NoError(t, err)
	explained, err := s.Releases.CatalogResolution(t.Context(), release.ShopperContext{}, nil)
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

// releaseHeld checks that a rollback holds until somebody publishes, whatever else creates
// releases.
func releaseHeld(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		unlessHeld := func(t *testing.T, s *shop.Store) {
			t.Helper()
			_, err := s.Publisher.PublishUnlessHeld(t.Context(), storetest.Actor, "main", nil)
			var held *routing.HeldError
			require.ErrorAs(t, err, &held)
			require.Equal(t, heldRelease(t, s), held.Hold.ReleaseID)
			require.True(t, store.HasCode(err, store.Conflict))
		}
		for name, ends := range map[string]func(*testing.T, *shop.Store, []string){
			"a publication": func(t *testing.T, s *shop.Store, _ []string) { storetest.Publish(t, s, "main") },
			"a publication of what has changed": func(t *testing.T, s *shop.Store, _ []string) {
				storetest.RenameProducts(t, s, "Three") // the authored name
				storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "brush", `"For paint."`, `"For painting."`)))
				storetest.Publish(t, s, "main")
			},
			"a job": func(t *testing.T, s *shop.Store, _ []string) {
				task, err := s.Publisher.PublishLater(t.Context(), storetest.Actor, "main", true)
				require.NoError(t, err)
				storetest.RunWorker(t, s)
				testkit.Eventually(t, job.Succeeded, func() job.State {
					task, err = s.Jobs.Get(t.Context(), task.ID)
					require.NoError(t, err)
					return task.State
				})
			},
			"the release it was rolled back from": func(t *testing.T, s *shop.Store, ids []string) { serveRelease(t, s, ids[0]) },
			"a preview": func(t *testing.T, s *shop.Store, _ []string) {
				made, err := s.Publisher.Preview(t.Context(), storetest.Actor, "main", nil)
				require.NoError(t, err)
				require.NotZero(t, heldRelease(t, s), "a preview does not end the hold")
				serveRelease(t, s, made.UUID())
			},
		} {
			t.Run(name+" ends it", func(t *testing.T) {
				s := backend.Open(t)
				ids := rollBackToFirst(t, s)
				require.Equal(t, ids[2], fmt.Sprint(heldRelease(t, s)))
				unlessHeld(t, s)
				storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("product", "jar", `"status":"live"`, `"status":"draft"`)))
				storetest.Import(t, s, storetest.JoinLines(storetest.ChangedShopLine("catalog", "main", `"name":"Main"`, `"name":"Other"`)))
				unlessHeld(t, s)
				serveRelease(t, s, ids[1])
				unlessHeld(t, s)
				require.Equal(t, "Two", anvilName(t, s))
				ends(t, s, ids)
				require.Equal(t, "Three", anvilName(t, s))
				require.Zero(t, heldRelease(t, s))
				storetest.RenameProducts(t, s, "Four")
				_, err := s.Publisher.PublishUnlessHeld(t.Context(), storetest.Actor, "main", nil)
				require.NoError(t, err)
				require.Equal(t, "Four", anvilName(t, s))
			})
		}
	}
}

// releaseHeldUnchanged checks that publishing ends the hold even if it makes no release because
// shoppers already see what is authored.
func releaseHeldUnchanged(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		ids := rollBackToFirst(t, s)
		storetest.RenameProducts(t, s, "One")
		storetest.Publish(t, s, "main")
		require.Zero(t, heldRelease(t, s))
		now, _ := releasesOf(t, s, "main")
		require.Equal(t, ids, now)
		serveRelease(t, s, ids[0])
		serveRelease(t, s, ids[2]) // the newest revision
		require.NotZero(t, heldRelease(t, s))
		storetest.Publish(t, s, "main")
		require.Zero(t, heldRelease(t, s))
	}
}

// releaseHeldEarlierPublish checks that publications and queued jobs that began before a
// rollback do not undo it.
func releaseHeldEarlierPublish(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		ids := rollBackToFirst(t, s)
		storetest.Publish(t, s, "main")
		for name, begun := range map[string]func(rollBack func()) error{
			"a publication": func(rollBack func()) error {
				_, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", func(int, int) { rollBack() })
				return err
			},
			"an import's": func(rollBack func()) error {
				_, err := s.Publisher.PublishUnlessHeld(t.Context(), storetest.Actor, "main", func(int, int) { rollBack() })
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
			require.Equal(t, "Two", anvilName(t, s), name)
			storetest.Publish(t, s, "main")
			require.Equal(t, "New "+name, anvilName(t, s))
		}
		storetest.RenameProducts(t, s, "Queued")
		before, err := s.Publisher.PublishLater(t.Context(), storetest.Actor, "main", true)
		require.NoError(t, err)
		serveRelease(t, s, ids[1])
		storetest.RunWorker(t, s)
		reached := func(task *job.Job) func() job.State {
			return func() job.State {
				now, err := s.Jobs.Get(t.Context(), task.ID)
				require.NoError(t, err)
				return now.State
			}
		}
		testkit.Eventually(t, job.Failed, reached(before))
		require.Equal(t, "Two", anvilName(t, s))
		after, err := s.Publisher.PublishLater(t.Context(), storetest.Actor, "main", true)
		require.NoError(t, err)
		testkit.Eventually(t, job.Succeeded, reached(after))
		require.Equal(t, "Queued", anvilName(t, s))
	}
}
