package authoring_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/catalog"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
)

// checkConflict fails the test unless a losing write got one of codes.
func checkConflict(t *testing.T, err error, codes ...store.Code) {
	var one *store.Error
	var list store.Errors
	ours := errors.As(err, &one) || errors.As(err, &list)
	if err != nil && (!ours || !slices.Contains(codes, store.AsErrors(err)[0].Code)) {
		t.Errorf("a writer got %v", err)
	}
}

func concurrentRules(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			for i := range 4 {
				id := fmt.Sprintf("c%d", i)
				switch writer % 3 {
				case 0:
					_, err := s.Catalogs.Create(t.Context(), storetest.Actor, id, catalog.Change{Name: new("C")})
					checkConflict(t, err, store.Unprocessable)
				case 1:
					_, err := s.Catalogs.CreateRule(t.Context(), storetest.Actor, fmt.Sprintf("r%d-%d", writer, i), catalog.RuleChange{Name: new("R"), CatalogID: &id, Channels: []string{"x"}})
					checkConflict(t, err, store.Unprocessable)
				case 2:
					checkConflict(t, s.Catalogs.Delete(t.Context(), storetest.Actor, id), store.NotFound, store.Unprocessable)
				}
			}
		})
		require.Equal(t, 0, storetest.CountRows(t, backend.SQL(t), `catalog_rule WHERE catalog_id NOT IN (SELECT id FROM catalog)`))
	}
}

func concurrentMoves(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		const nodes = 6
		for i := range nodes {
			require.NoError(t, putNode(t.Context(), s, fmt.Sprintf("n%d", i), "attic"))
		}
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			for i := range 5 { // moves nodes in a circle
				checkConflict(t, putNode(t.Context(), s, fmt.Sprintf("n%d", (writer+i)%nodes), fmt.Sprintf("n%d", (writer+i+1)%nodes)), store.Invalid)
			}
		})
		requireTree(t, s, "attic")
	}
}

// requireTree checks that each node of a hierarchy leads up to it.
func requireTree(t require.TestingT, s *shop.Store, hierarchy string) {
	slice, err := s.Catalogs.AuthoredNodes(context.Background(), catalog.NodeFilter{HierarchyID: &hierarchy}, store.Sort{}, store.Page{First: new(100)})
	require.NoError(t, err)
	parents := map[string]string{}
	for _, node := range slice.Items {
		parents[node.ID] = node.ParentID
	}
	for id := range parents {
		up, steps := id, 0
		for up != hierarchy {
			parent, known := parents[up]
			require.True(t, known, "the parent of %s is %s, which does not exist", id, up)
			require.LessOrEqual(t, steps, len(parents), "%s is its own ancestor", id)
			up, steps = parent, steps+1
		}
	}
}

func concurrentAttachments(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			ids := []string{"anvil", "brush", "chalk", "glue"}
			if writer%2 == 0 {
				slices.Reverse(ids)
			}
			_, err := s.Catalogs.AttachProducts(t.Context(), storetest.Actor, "empty", ids)
			checkConflict(t, err)
		})
		require.ElementsMatch(t, []string{"anvil", "brush", "chalk", "glue"}, attachedTo(t, s, "empty"))
	}
}

func concurrentCuration(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		_, err := s.Catalogs.AttachProducts(t.Context(), storetest.Actor, "empty", []string{"anvil", "brush", "chalk"})
		require.NoError(t, err)
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			for range 3 {
				if writer%2 == 0 {
					_, err := s.Catalogs.CurateProducts(t.Context(), storetest.Actor, "empty", []string{"chalk", "anvil"}, nil)
					checkConflict(t, err, store.Unprocessable)
					continue
				}
				_, err := s.Catalogs.DetachProducts(t.Context(), storetest.Actor, "empty", []string{"anvil"})
				checkConflict(t, err)
				_, err = s.Catalogs.AttachProducts(t.Context(), storetest.Actor, "empty", []string{"anvil"})
				checkConflict(t, err)
			}
		})
		node, err := s.Catalogs.AuthoredNode(t.Context(), "empty")
		require.NoError(t, err)
		require.Subset(t, attachedTo(t, s, "empty"), node.CuratedProductIDs)
	}
}

func concurrentHierarchies(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.Import(t, s, storetest.ShopFile)
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			for i := range 3 {
				id := fmt.Sprintf("h%d", i)
				switch writer % 4 {
				case 0:
					_, err := s.Exchange.UpsertHierarchies(t.Context(), storetest.Actor, []*exchange.HierarchyItemInput{{ID: &id, Name: new("H")}}, nil, false)
					checkConflict(t, err, store.Unprocessable)
				case 1:
					checkConflict(t, putNode(t.Context(), s, fmt.Sprintf("n%d-%d", writer, i), id), store.Unprocessable)
				case 2:
					_, err := s.Catalogs.Update(t.Context(), storetest.Actor, "outlet", catalog.Change{HierarchyIDs: []string{id}})
					checkConflict(t, err, store.Unprocessable)
				case 3:
					_, err := s.Exchange.DeleteHierarchies(t.Context(), storetest.Actor, []string{id}, false)
					checkConflict(t, err, store.NotFound, store.Unprocessable)
				}
			}
		})
		require.Equal(t, 0, storetest.CountRows(t, backend.SQL(t), `node WHERE hierarchy_id NOT IN (SELECT id FROM hierarchy)`))
		outlet, err := s.Catalogs.Get(t.Context(), "outlet")
		require.NoError(t, err)
		for _, id := range outlet.HierarchyIDs {
			_, err := s.Catalogs.AuthoredHierarchy(t.Context(), id)
			require.NoError(t, err)
		}
	}
}

// concurrentLists has two writers that add to a list as they read it. None loses what the other one added.
func concurrentLists(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		const each = 4 // elements of a writer
		lines := []string{storetest.ShopFile}
		for i := range 2 * each {
			lines = append(lines, fmt.Sprintf(`{"type":"hierarchy","id":"list-%d","attributes":{"name":"H"}}`, i), fmt.Sprintf(`{"type":"pricebook","id":"list-%d","attributes":{"name":"B"}}`, i),
				fmt.Sprintf(`{"type":"product","id":"list-%d","attributes":{"name":"P","sku":"LIST-%[1]d","slug":"list-%[1]d","status":"live"}}`, i))
		}
		storetest.Import(t, s, storetest.JoinLines(lines...))
		var all []string
		for i := range 2 * each {
			all = append(all, fmt.Sprintf("list-%d", i))
		}
		_, err := s.Catalogs.AttachProducts(t.Context(), storetest.Actor, "paints", all)
		require.NoError(t, err)
		for name, list := range map[string]struct {
			read  func(s *shop.Store) ([]string, error)
			write func(s *shop.Store, ids, expected []string) error
		}{
			"hierarchies of a catalog": {
				func(s *shop.Store) ([]string, error) {
					c, err := s.Catalogs.Get(t.Context(), "outlet")
					return c.HierarchyIDs, err
				},
				func(s *shop.Store, ids, expected []string) error {
					_, err := s.Catalogs.Update(t.Context(), storetest.Actor, "outlet", catalog.Change{HierarchyIDs: ids, ExpectedHierarchyIDs: expected})
					return err
				}},
			"price books of a catalog": {
				func(s *shop.Store) (ids []string, err error) {
					c, err := s.Catalogs.Get(t.Context(), "outlet")
					for _, book := range c.Pricebooks {
						ids = append(ids, book.ID)
					}
					return ids, err
				},
				func(s *shop.Store, ids, expected []string) error {
					books := func(ids []string) []catalog.PricebookRank {
						list := []catalog.PricebookRank{}
						for _, id := range ids {
							list = append(list, catalog.PricebookRank{ID: id, Priority: 1})
						}
						return list
					}
					_, err := s.Catalogs.Update(t.Context(), storetest.Actor, "outlet", catalog.Change{Pricebooks: books(ids), ExpectedPricebooks: books(expected)})
					return err
				}},
			"curated products": {
				func(s *shop.Store) ([]string, error) {
					node, err := s.Catalogs.AuthoredNode(t.Context(), "paints")
					return node.CuratedProductIDs, err
				},
				func(s *shop.Store, ids, expected []string) error {
					_, err := s.Catalogs.CurateProducts(t.Context(), storetest.Actor, "paints", ids, expected)
					return err
				}},
			"products of a node": {
				func(s *shop.Store) ([]string, error) {
					attached, err := s.Catalogs.AttachedProducts(t.Context(), []string{"empty"}, 100, 0)
					return append([]string{}, attached["empty"]...), err
				},
				func(s *shop.Store, ids, expected []string) error {
					_, err := s.Catalogs.SetProducts(t.Context(), storetest.Actor, "empty", ids, expected, false)
					return err
				}},
		} {
			before, err := list.read(s)
			require.NoError(t, err)
			storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
				for i := range each {
					for done := writer > 1; !done; { // one writer on each store
						seen, err := list.read(s)
						if !assert.NoError(t, err, name) {
							return
						}
						seen = append([]string{}, seen...) // a nil list would expect nothing
						err = list.write(s, append(slices.Clone(seen), fmt.Sprintf("list-%d", writer*each+i)), seen)
						checkConflict(t, err, store.Conflict)
						done = err == nil || !store.HasCode(err, store.Conflict)
					}
				}
			})
			after, err := list.read(s)
			require.NoError(t, err)
			require.ElementsMatch(t, append(slices.Clone(before), all...), after, name)
		}
	}
}
