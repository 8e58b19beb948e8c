package authoring_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

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
					_, err := s.Catalogs.Create(t.Context(), storetest.Actor, id, catalog.CatalogChange{Name: new("C")})
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
					_, err := s.Catalogs.CurateProducts(t.Context(), storetest.Actor, "empty", []string{"chalk", "anvil"})
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
					_, err := s.Catalogs.Update(t.Context(), storetest.Actor, "outlet", catalog.CatalogChange{HierarchyIDs: []string{id}})
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
