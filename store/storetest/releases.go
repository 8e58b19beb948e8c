package storetest

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
)

// withoutDeltas has a store publish no deltas.
func WithoutDeltas(config *shop.Config) { config.WholeReleases = true }

// renamed imports the shop with other names of its products.
func RenameProducts(t require.TestingT, s *shop.Store, version string) {
	var lines []string
	for _, line := range ShopLines() {
		if LineType(line) == "product" {
			lines = append(lines, strings.Replace(line, `"attributes":{"name":"`, `"attributes":{"name":"`+version+" ", 1))
		}
	}
	Import(t, s, JoinLines(lines...))
}

// firstPage is one product of the list of all, and its cursor.
func FirstPage(t require.TestingT, v *release.View) (name, cursor string) {
	slice, err := v.Products(context.Background(), release.ProductQuery{Page: store.Page{First: new(1)}})
	require.NoError(t, err)
	require.Len(t, slice.Items, 1)
	return slice.Items[0].Name(), slice.Cursors()[0]
}

func NextPage(v *release.View, cursor string) (*store.Slice[*release.Product], error) {
	return v.Products(context.Background(), release.ProductQuery{Page: store.Page{First: new(1), After: &cursor}})
}

func CountRows(t require.TestingT, db *sql.DB, table string) (n int) {
	require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM `+table).Scan(&n))
	return n
}

// requireNoLeftovers holds the parts of releases against the releases, and
// the documents against what refers to them.
func RequireNoOrphans(t require.TestingT, db *sql.DB) {
	for _, table := range []string{"release_product", "release_node", "release_file", "release_list", "release_chunk", "release_index", "release_place", "release_sale", "release_word", "release_facet"} {
		require.Zero(t, CountRows(t, db, table+` WHERE release_id NOT IN (SELECT id FROM release)`), table)
	}
	require.Zero(t, CountRows(t, db, `release_row WHERE id / 4294967296 NOT IN (SELECT id FROM release)`), "rows of products")
	used := map[string]bool{}
	for _, query := range []string{`SELECT documents FROM release_product`, `SELECT CAST(crumbs AS TEXT) FROM release_product`, `SELECT CAST(document_id AS TEXT) FROM release_file`} {
		rows, err := db.Query(query)
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var text string
			require.NoError(t, rows.Scan(&text))
			for field := range strings.FieldsSeq(text) {
				used[field[strings.Index(field, "=")+1:]] = true
			}
		}
		require.NoError(t, rows.Err())
	}
	require.Equal(t, len(used), CountRows(t, db, "document"), "documents against those in use")
	require.Zero(t, CountRows(t, db, "document_hash WHERE document_id NOT IN (SELECT id FROM document)"), "names of no document")
}

// AgeBuilds has releases that are built show no sign of life for two minutes.
func AgeBuilds(t *testing.T, db *sql.DB) {
	t.Helper()
	_, err := db.Exec(`UPDATE release SET touched_at = touched_at - 120000000 WHERE state = 'building'`)
	require.NoError(t, err)
}
