package authoring_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/catalog"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// searchedTexts are words as authored, and as searches compare them.
var searchedTexts = [][2]string{{"Café", "cafe"}, {"ÉTÉ", "ete"}, {"Straße", "strasse"}, {"Anvil", "anvil"}, {"50%", "50%"}, {"a_b", "a_b"}, {"Ægir", "aegir"}, {"O'Neil", "o'neil"}, {"tea", "tea"}, {"TEAM", "team"}}

// TestAuthoredSearch compares searches of authored products and nodes to a model: a word is a part of the name, or of the SKU.
func TestAuthoredSearch(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		draw := rand.New(rand.NewPCG(7, 11))
		words := func() (authored, folded string) {
			for range 1 + draw.IntN(3) {
				word := searchedTexts[draw.IntN(len(searchedTexts))]
				authored, folded = authored+" "+word[0], folded+" "+word[1]
			}
			return authored[1:], folded[1:]
		}
		const rows = 60
		names, skus := make([]string, rows), make([]string, rows)
		text := `{"type":"hierarchy","id":"h","attributes":{"name":"H"}}` + "\n"
		for i := range rows {
			var name string
			name, names[i] = words()
			skus[i] = fmt.Sprintf("bk-%d/x", i%20)
			text += fmt.Sprintf(`{"type":"product","id":"r%02d","attributes":{"name":%q,"sku":"BK-%d/X","status":"draft"}}`, i, name, i%20) + "\n"
			text += fmt.Sprintf(`{"type":"node","id":"r%02d","attributes":{"name":%q},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}}}`, i, name) + "\n"
		}
		s := backend.Open(t)
		storetest.Import(t, s, text)
		for range testkit.QuickOrFull(60, 600) {
			var parts []string
			for range 1 + draw.IntN(2) {
				of := []string{names[draw.IntN(rows)], skus[draw.IntN(rows)], "team bk-", "%", "_", "zebra"}[draw.IntN(6)]
				from := draw.IntN(len(of))
				parts = append(parts, of[from:from+1+draw.IntN(min(6, len(of)-from))])
			}
			search := strings.Join(parts, " ")
			if !strings.ContainsFunc(search, func(r rune) bool { return r != ' ' }) {
				continue // is no condition
			}
			typed := []string{search, strings.ToUpper(search), " " + strings.ReplaceAll(search, "e", "é") + "  "}[draw.IntN(3)]
			requireFound(t, s.Catalogs, typed, rows, func(i int, searched bool) bool {
				for _, word := range strings.Fields(search) {
					if !strings.Contains(names[i], word) && (!searched || !strings.Contains(skus[i], word)) {
						return false
					}
				}
				return true
			})
		}
		storetest.Import(t, s, `{"type":"product","id":"r00","attributes":{"name":"Renamed","sku":"RE-1","status":"draft"}}`+"\n")
		requireFound(t, s.Catalogs, "renamed", 1, func(_ int, product bool) bool { return product })

		spent := context.WithValue(t.Context(), store.AllowanceKey, spent{})
		_, err := s.Catalogs.AuthoredProducts(spent, catalog.ProductFilter{Search: "anvil"}, store.Sort{}, store.Page{})
		storetest.RequireError(t, err, store.Unprocessable, "", "spent")
		_, err = s.Catalogs.AuthoredNodes(spent, catalog.NodeFilter{Search: "anvil"}, store.Sort{}, store.Page{})
		storetest.RequireError(t, err, store.Unprocessable, "", "spent")
	})
}

// spent is an allowance of which nothing is left.
type spent struct{}

func (spent) Charge(int) error { return &store.Error{Code: store.Unprocessable, Detail: "spent"} }

// requireFound checks which of the products and nodes r00, r01 and so on a search finds.
func requireFound(t *testing.T, s *catalog.Service, search string, rows int, found func(i int, product bool) bool) {
	t.Helper()
	var products, nodes []string
	for i := range rows {
		id := fmt.Sprintf("r%02d", i)
		if found(i, true) {
			products = append(products, id)
		}
		if found(i, false) {
			nodes = append(nodes, id)
		}
	}
	page := store.Page{First: new(100)}
	foundProducts, err := s.AuthoredProducts(t.Context(), catalog.ProductFilter{Search: search}, store.Sort{}, page)
	requireRows(t, search, foundProducts, err, func(p *catalog.AuthoredProduct) string { return p.ID }, products)
	foundNodes, err := s.AuthoredNodes(t.Context(), catalog.NodeFilter{Search: search}, store.Sort{}, page)
	requireRows(t, search, foundNodes, err, func(n *catalog.AuthoredNode) string { return n.ID }, nodes)
}

func requireRows[T any](t *testing.T, search string, list *store.Slice[T], err error, id func(T) string, want []string) {
	t.Helper()
	require.NoError(t, err)
	var ids []string
	for _, row := range list.Items {
		ids = append(ids, id(row))
	}
	require.Equal(t, want, ids, "%q", search)
	total, err := list.Total(t.Context())
	require.NoError(t, err)
	require.Equal(t, len(want), total, "%q", search)
}
