package shop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
	"portico/store/release/segment"
	"portico/store/storetest"
)

// TestDoctor breaks each rule of a sound shop by hand, and expects that this rule is reported, with
// an example.
func TestDoctor(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, sql := backend.Open(t), backend.SQL(t)
		broken := func() (list []db.CheckResult) {
			results, err := s.Doctor(t.Context())
			require.NoError(t, err)
			for _, r := range results {
				require.NotEmpty(t, r.Advice, r.Rule)
				if r.Count > 0 {
					list = append(list, r)
				}
			}
			return list
		}
		sound := func(t *testing.T) {
			storetest.DeleteAllRows(t, sql)
			for _, table := range segment.Tables {
				_, err := sql.Exec(`DELETE FROM ` + table.Name)
				require.NoError(t, err)
			}
			storetest.Import(t, s, storetest.JoinLines(product("mug"), product("cup"),
				`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`,
				`{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[{"type":"product","id":"mug"},{"type":"product","id":"cup"}]}}}`,
				`{"type":"pricebook","id":"b","attributes":{"name":"B"}}`,
				`{"type":"product-price","id":"p","attributes":{"sku":"MUG","currencies":{"USD":{"amount":1,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"b"}}}}`,
				`{"type":"catalog","id":"main","attributes":{"name":"M","hierarchies":["h"]}}`,
				`{"type":"catalog_rule","id":"r","attributes":{"name":"R","catalog_id":"main"}}`,
				storetest.PromotionLine("promo", ``), storetest.CodeLine("promo", "A", ``)))
			_, err := s.CreateStock(t.Context(), storetest.Actor, "mug", 3)
			require.NoError(t, err)
			storetest.Publish(t, s, "main")
			require.Empty(t, broken())
		}
		for _, c := range []struct{ statement, rule, example string }{
			{`UPDATE stock SET available = 4`, "Each ledger adds up to its stock.", "mug"},
			{`DELETE FROM stock`, "Each ledger line is of a product that has or had stock.", ""},
			{`UPDATE counter SET value = 7 WHERE name = 'stock'`, "The number of stock records is counted right.", "stock"},
			{`UPDATE stock SET lines = 9`, "The lengths of ledgers are counted right.", "mug"},
			{`INSERT INTO stock_deleted (product_id, created_at, deleted_at, revision, lines) SELECT product_id, 0, 0, 0, lines FROM stock`, "A stock record that exists is not marked as deleted.", "mug"},
			{`UPDATE promotion SET codes = 5`, "The codes of each promotion are counted right.", "promo"},
			{`INSERT INTO code_usage_total (promotion_number, part, usages) SELECT number, 3, 1 FROM promotion`, "The usages of each promotion are counted right.", "promo"},
			{`UPDATE node SET hierarchy_id = 'x'`, "Each node belongs to a hierarchy.", "n"},
			{`UPDATE price SET pricebook_id = 'x'`, "Each price belongs to a price book.", "p"},
			{`UPDATE catalog_rule SET catalog_id = 'x'`, "Each catalog rule leads to a catalog.", "r"},
			{`INSERT INTO node_product (node_id, attached, product_id) VALUES ('x', 1, 'mug')`, "Products are attached to nodes that exist.", "x"},
			{`INSERT INTO node_product (node_id, attached, product_id) VALUES ('n', 9, 'x')`, "Nodes list products that exist.", "x"},
			{`UPDATE price SET sku = 'mug'`, "Each price is for the SKU of a product.", "mug"},
			{`UPDATE product SET sku = 'MUG'`, "No two products have the same SKU.", "MUG"},
			{`UPDATE product SET slug = 'mug'`, "No two products have the same slug.", "mug"},
			{`UPDATE product SET parent_id = 'x' WHERE id = 'cup'`, "The parents of products exist.", "cup"},
			{`UPDATE catalog SET release_id = 99`, "Each catalog serves a release that is complete.", "main"},
			{`UPDATE release SET base_id = 99`, "The base of each release is kept.", "main"},
			{`UPDATE release SET format = 1`, "Catalogs serve releases of this version's format.", "main"},
			{`UPDATE catalog SET release_id = NULL`, "Each catalog has a release.", "main"},
			{`INSERT INTO release_word (release_id, chunk, body) VALUES (99, 0, '')`, "Each row of release_word belongs to a release.", "99"},
			{`INSERT INTO release_block (id, body) VALUES (425201762304, '')`, "Each row of release_block belongs to a release.", "99"},
		} {
			t.Run(c.rule, func(t *testing.T) {
				sound(t)
				_, err := sql.Exec(c.statement)
				require.NoError(t, err)
				found := broken()
				rules := map[string]string{}
				for _, r := range found {
					rules[r.Rule] = r.Example
				}
				require.Contains(t, rules, c.rule)
				if c.example != "" {
					require.Equal(t, c.example, rules[c.rule])
				}
			})
		}
	})
}

func product(id string) string {
	return `{"type":"product","id":"` + id + `","attributes":{"name":"` + id + `","sku":"` + map[string]string{"mug": "MUG", "cup": "CUP"}[id] + `","slug":"` + id + `","status":"live","created_at":"2026-01-01T00:00:00Z"}}`
}
