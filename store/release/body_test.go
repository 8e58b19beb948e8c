package release_test

import (
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/datagen"
	"portico/store"
	"portico/store/exchange"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// Whatever a product is, its body is read by the way it was written, and says
// what encoding/json reads in it.
func TestBodiesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		if backend.Name != "sqlite" {
			t.Skip("no engine has a part in it")
		}
		demoShop, err := os.ReadFile("../../internal/demo/shop.ndjson")
		require.NoError(t, err)
		for name, lines := range map[string]func(io.Writer) error{
			"generated": func(w io.Writer) error { return datagen.WriteShop(w, testkit.QuickOrFull(300, 5000), 7) },
			"coffee":    func(w io.Writer) error { _, err := w.Write(demoShop); return err },
			"odd":       func(w io.Writer) error { _, err := io.WriteString(w, oddShop); return err },
		} {
			t.Run(name, func(t *testing.T) {
				s := backend.Open(t)
				file, err := os.CreateTemp(t.TempDir(), "")
				require.NoError(t, err)
				require.NoError(t, lines(file))
				require.NoError(t, file.Close())
				_, err = s.Exchange.Import(t.Context(), store.Actor("client:test"), func() (io.ReadCloser, error) { return os.Open(file.Name()) }, exchange.ImportOptions{})
				require.NoError(t, err)
				catalogs, err := s.Releases.CatalogIDs(t.Context())
				require.NoError(t, err)
				_, err = s.Publisher.Publish(t.Context(), store.Actor("client:test"), catalogs[0], nil)
				require.NoError(t, err)
				require.NotZero(t, readBodies(t, s))
			})
		}
	})
}

// readBodies reads every product of a shop both ways.
func readBodies(t *testing.T, s *shop.Store) (count int) {
	t.Helper()
	v, err := s.Releases.View(t.Context(), release.ShopperContext{Languages: testkit.Languages("fr")})
	require.NoError(t, err)
	first := store.MaxPageLength
	for page := (store.Page{First: &first}); ; {
		products, err := v.Products(t.Context(), release.ProductQuery{Unlisted: true, Page: page})
		require.NoError(t, err)
		for _, product := range products.Items {
			count++
			fast, slow, ok := release.ReadBody(product)
			require.True(t, ok, "%s", product.AppendJSON(nil))
			require.Equal(t, slow, fast, "%s", product.AppendJSON(nil))
		}
		if !products.HasNext {
			return count
		}
		page.After = &products.Cursors()[len(products.Cursors())-1]
	}
}

// oddShop has texts that JSON escapes, and open objects of all kinds.
const oddShop = `{"type":"product","id":"odd","attributes":{"name":"A \"B\" \\ <c> \u2028 \n","description":"}],\"{[","sku":"S\\","slug":"s","status":"live","commodity_type":"physical","created_at":"2024-01-01T00:00:00.000Z","updated_at":"2024-01-01T00:00:00.000Z","tags":["a\"b","c,d"],"custom_inputs":{"a":{"name":"}\"","validation_rules":[{"type":"string","options":{"max_length":1.5e3}}]}},"extensions":{"products(x)":{"deep":[[],{},null,true,-1,"\u00e9"]}},"shopper_attributes":{"a":""}}}
{"type":"hierarchy","id":"h","attributes":{"name":"H"}}
{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[{"type":"product","id":"odd"}]}}}
{"type":"catalog","id":"c","attributes":{"name":"C","hierarchies":["h"]}}
`
