package graph_test

import (
	"bytes"
	"encoding/csv"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store/catalog"
	"portico/store/release"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// productTexts returns another text for each of catalog.ProductTexts, as GraphQL spells them.
func productTexts() map[string]any {
	texts := map[string]any{}
	for _, m := range catalog.ProductTextMembers {
		texts[camel(m.Name)] = "a text of " + m.Name
	}
	return texts
}

// Each of catalog.ProductTexts is written by a mutation, is in GraphQL, documents and sheets, and has at most its limit.
func TestProductTexts(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		s := graphtest.Open(t, e, graphtest.Shop())
		upsert := func(texts map[string]any) (messages []string) {
			item := maps.Clone(texts)
			item["id"] = "frame"
			var written struct {
				ProductsUpsert struct{ UserErrors []struct{ Message string } }
			}
			s.Post(t, `mutation($item: ProductItemInput!) { productsUpsert(input: {items: [$item]}) { userErrors { message } } }`, graphtest.Variables{"item": item}).Read(t, &written)
			for _, e := range written.ProductsUpsert.UserErrors {
				messages = append(messages, e.Message)
			}
			return messages
		}
		texts := productTexts()
		require.Empty(t, upsert(texts))
		storetest.Publish(t, s.Store, "main")

		var read map[string]map[string]any
		members := strings.Join(slices.Sorted(maps.Keys(texts)), " ")
		s.Post(t, `{ product(by: {id: "frame"}) { `+members+` } authoredProduct(by: {id: "frame"}) { `+members+` } }`, nil).Read(t, &read)
		require.Equal(t, map[string]map[string]any{"product": texts, "authoredProduct": texts}, read)

		document := storetest.ProductJSON(t, storetest.FindProduct(t, storetest.View(t, s.Store, release.ShopperContext{}), "frame"))
		var file bytes.Buffer
		_, err := s.Store.Exchange.ExportSheet(t.Context(), &file, "product")
		require.NoError(t, err)
		rows, err := csv.NewReader(&file).ReadAll()
		require.NoError(t, err)
		frame := rows[slices.IndexFunc(rows, func(row []string) bool { return slices.Contains(row, "frame") })]
		for _, m := range catalog.ProductTextMembers {
			text := texts[camel(m.Name)]
			require.Equal(t, text, testkit.JSONAt(t, document, "attributes", m.Name))
			require.Equal(t, text, frame[slices.Index(rows[0], m.Name)], m.Name)
			if m.Limit > 0 {
				faults := upsert(map[string]any{camel(m.Name): strings.Repeat("x", m.Limit+1)})
				require.Len(t, faults, 1)
				require.Contains(t, faults[0], "items.0."+camel(m.Name)+" must be at most")
			}
		}
	})
}
