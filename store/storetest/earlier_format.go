package storetest

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/release"
)

// WriteEarlierRows writes products of a release as the format before blocks has them, in place of all
// such rows.
func WriteEarlierRows(t testing.TB, db *sql.DB, v *release.View, ids []string) {
	t.Helper()
	run := func(query string, args ...any) {
		_, err := db.Exec(query, args...)
		require.NoError(t, err)
	}
	run(`DELETE FROM release_row`)
	run(`DELETE FROM document`)
	found, err := v.PlacesByID(t.Context(), ids, nil)
	require.NoError(t, err)
	var places []uint32
	for _, place := range found {
		places = append(places, uint32(place))
	}
	documents := 0
	stored, err := v.ProductsStored(t.Context(), places)
	require.NoError(t, err)
	defer stored.Release()
	translations, err := v.Translations(t.Context(), places)
	require.NoError(t, err)
	document := func(body string) int {
		documents++
		run(`INSERT INTO document (id, hash, body) VALUES ($1, $2, $3)`, documents, []byte{}, body)
		return documents
	}
	for i, p := range stored.Products {
		require.Equal(t, v.Release.Locale, translations[i][0].Language)
		texts := fmt.Sprint(document(translations[i][0].Document))
		for _, d := range translations[i][1:] {
			texts += fmt.Sprintf(" %s=%d", d.Language, document(d.Document))
		}
		holder, published := v.Release.HolderIdentity(int(places[i])), ""
		if p.PublishedAt != holder.Published {
			published = fmt.Sprintf("@%d\n", p.PublishedAt)
		}
		run(`INSERT INTO release_row (id, body) VALUES ($1, $2)`, holder.Number<<32|int64(places[i]),
			fmt.Sprintf("%s\n%s\n%d\n%s%s", p.ID, texts, document(p.Crumbs), published, p.Offers))
	}
}
