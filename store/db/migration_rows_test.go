package db_test

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/promotion/redeem"
	"portico/store/release"
	"portico/store/storetest"
)

// addedSinceRows are the tables, columns and indexes of later migrations.
var addedSinceRows = []string{
	`INDEX product_by_sku_in_any_case`,
	`TABLE sweep`,
	`promotion.codes`,
	`stock.lines`,
	`TABLE code_usage_total`,
	`TABLE promotion_archive`,
	"change.follows",
	"stock_change.follows",
	"catalog.held_below",
	"catalog.rolled_back_from",
	`TABLE stock_deleted`,
	"release_file.body",
	"INDEX price_of_pricebook",
	"release_node.published_at",
	`TABLE release_block`,
	`TABLE release_change`,
	"release_list.since",
	"release.nodes_since",
	"release.nodes_at",
	`TABLE purge_seen`,
	`TABLE purge_call`,
	`INDEX promotion_automatic`,
	`INDEX product_by_sku`,
	`INDEX product_by_slug`,
	"product.sku",
	"product.slug",
	`TABLE attribute`, `TABLE synonym`, `TABLE redirect`, `TABLE slug_change`,
	"settings.low_stock_threshold",
	`INDEX promotion_code_by_state`,
	`INDEX promotion_code_by_state_in_order`,
	"promotion_code.used_up",
	`INDEX promotion_code_by_key`, "promotion_code.code_key", "settings.code_case",
	`INDEX code_usage_in_order`,
	`INDEX code_usage_of_order`,
	`INDEX stock_by_available`,
	`INDEX product_by_status`,
	`INDEX product_by_status_updated`,
	`INDEX product_by_updated`,
	`INDEX authored_change_of_resource`,
	"release_node.seo_title",
	"release_node.seo_description",
	"release.rolled_back",
	"release.actor",
	"release.label",
	"release.note",
	"release.bytes",
	"release.served_at",
	"release.retained",
	"job.run_at",
	`TABLE audit_event`,
	"release_node.texts",
	"release.layers", "release.nodes_by", "release.equal_to",
}

// migrateRows opens a database whose release stores each base price in a row of its own, and
// whose lists have no stored totals.
func migrateRows(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		storetest.Import(t, s, storetest.SalesShop())
		storetest.Import(t, s, storetest.JoinLines(
			`{"type":"file","id":"photo","file_name":"anvil.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://cdn.example/anvil.jpg"},"meta":{"timestamps":{"created_at":"2023-01-01T00:00:00.000Z"}}}`,
			storetest.PromotionLine("p", ``), storetest.PromotionLine("auto", `,"automatic":true`), storetest.CodeLine("p", "A", ``), storetest.CodeLine("p", "B", ``), storetest.CodeLine("p", "GONE", ``)))
		_, err := s.RedeemCode(t.Context(), storetest.Actor, redeem.CodeUse{Code: "A", Reference: "order", Units: 1})
		require.NoError(t, err)
		_, err = s.CreateStock(t.Context(), storetest.Actor, "some", 5)
		require.NoError(t, err)
		require.NoError(t, storetest.Increment(t.Context(), s, "some"))
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		ids := storetest.ProductIDs(t, v, release.ProductQuery{})
		storetest.WriteEarlierRows(t, db, v, ids)
		require.NoError(t, s.Close())
		want, files := productRows(t, db), fileRows(t, db)
		require.NotEmpty(t, files)
		require.NotEmpty(t, want)
		run := func(query string, args ...any) {
			_, err := db.Exec(query, args...)
			require.NoError(t, err, query)
		}
		run(`CREATE TABLE release_price (release_id BIGINT NOT NULL, ordinal BIGINT NOT NULL, currency TEXT NOT NULL, pricebook_id TEXT NOT NULL,
			amount BIGINT NOT NULL, includes_tax BOOLEAN NOT NULL, tiers TEXT NOT NULL, PRIMARY KEY (release_id, ordinal, currency))`)
		run(`CREATE TABLE release_product (release_id BIGINT NOT NULL, ordinal BIGINT NOT NULL, product_id TEXT NOT NULL, documents TEXT NOT NULL,
			crumbs BIGINT NOT NULL, version BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (release_id, ordinal))`)
		run(`CREATE TABLE document_hash (hash BYTEA NOT NULL PRIMARY KEY, document_id BIGINT NOT NULL)`)
		run(`INSERT INTO counter (name, value) VALUES ('documents_due', 0)`)
		run(`ALTER TABLE release_file ADD COLUMN document_id BIGINT NOT NULL DEFAULT 0`)
		run(`UPDATE release_file SET document_id = (SELECT 1000 + COUNT(*) FROM release_file AS f WHERE f.file_id < release_file.file_id)`)
		run(`INSERT INTO document (id, hash, body) SELECT document_id, '', body FROM release_file`)
		run(`UPDATE release SET format = 6`)
		run(`UPDATE promotion_code SET epoch = 7 WHERE code = 'GONE'`) // not counted
		prices := 0
		for id, lines := range want {
			run(`INSERT INTO release_product (release_id, ordinal, product_id, documents, crumbs) VALUES ($1, $2, $3, $4, CAST($5 AS BIGINT))`,
				id>>32, id&(1<<32-1), lines[0], lines[1], lines[2])
			for _, line := range lines {
				if line, is := strings.CutPrefix(line, "="); is {
					fields := strings.SplitN(line, " ", 5)
					run(`INSERT INTO release_price VALUES ($1, $2, $3, $4, CAST($5 AS BIGINT), $6, $7)`,
						id>>32, id&(1<<32-1), fields[0], fields[1], fields[2], fields[3] == "1", fields[4])
					prices++
				}
			}
		}
		require.Greater(t, prices, len(want)/2)
		run(`DROP TABLE release_row`)
		for _, added := range addedSinceRows {
			if table, column, is := strings.Cut(added, "."); is {
				run(`ALTER TABLE ` + table + ` DROP COLUMN ` + column)
			} else {
				run(`DROP ` + added)
			}
		}
		run(`DELETE FROM goose_db_version WHERE version_id >= 13`)
		s = backend.Open(t)
		require.Equal(t, want, productRows(t, db))
		require.Equal(t, files, fileRows(t, db))
		products, err := storetest.View(t, s, release.ShopperContext{}).ProductsByID(t.Context(), ids)
		require.NoError(t, err)
		require.Len(t, products, len(ids))
		storetest.RequireTotals(t, db)
		require.Equal(t, []int{2, 1}, []int{storetest.CodesTotal(t, t.Context(), s, "p"), storetest.CodesTotal(t, t.Context(), s, "auto")})
		require.Equal(t, []int{1, 2}, []int{storetest.UsagesTotal(t, t.Context(), s, "p", nil), storetest.LedgerTotal(t, t.Context(), s, "some")})
	}
}

// fileRows returns the files of releases.
func fileRows(t *testing.T, db *sql.DB) []string {
	rows, err := db.Query(`SELECT file_id || ' ' || body FROM release_file ORDER BY release_id, file_id`)
	require.NoError(t, err)
	defer rows.Close()
	var found []string
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		found = append(found, text)
	}
	require.NoError(t, rows.Err())
	return found
}

// productRows returns the rows of released products as lines, those of prices in order.
func productRows(t *testing.T, db *sql.DB) map[int64][]string {
	found := map[int64][]string{}
	rows, err := db.Query(`SELECT id, body FROM release_row`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var id int64
		var body string
		require.NoError(t, rows.Scan(&id, &body))
		found[id] = strings.Split(body, "\n")
		slices.Sort(found[id][3:])
	}
	require.NoError(t, rows.Err())
	return found
}
