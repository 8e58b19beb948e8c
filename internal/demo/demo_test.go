package demo_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"

	"portico/internal/auth"
	"portico/internal/demo"
	"portico/store"
	"portico/store/access"
	"portico/store/exchange"
	"portico/store/release"
	"portico/store/seal"
	"portico/store/shop"
)

func open(t *testing.T) *shop.Store {
	t.Helper()
	s, err := shop.Open(t.Context(), shop.Config{URL: "file:" + filepath.Join(t.TempDir(), "demo.db"), Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func view(t *testing.T, s *shop.Store, shopper release.ShopperContext) *release.View {
	t.Helper()
	v, err := s.Releases.View(t.Context(), shopper)
	require.NoError(t, err)
	return v
}

func TestDemoShopIsComplete(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), open(t)
	require.NoError(t, demo.Fill(ctx, s))
	v := view(t, s, release.ShopperContext{})
	require.Equal(t, demo.CatalogID, v.Release.CatalogID)

	all := 100
	page, err := v.Products(ctx, release.ProductQuery{Page: store.Page{First: &all}})
	require.NoError(t, err)
	require.Len(t, page.Items, 21, "all but the three sizes of the latte, and the draft")
	for _, product := range page.Items {
		require.NotNil(t, product.Price(), product.ID())
		require.NotEmpty(t, product.NodeIDs(), product.ID())
		files, err := v.FilesByID(ctx, append([]string{product.MainImageID()}, fileIDs(product)...))
		require.NoError(t, err)
		require.Len(t, files, 1+len(fileIDs(product)), "the files of %s", product.ID())
		related := append(append(product.ChildIDs(), product.ComponentProductIDs()...), product.ID())
		found, err := v.ProductsByID(ctx, related)
		require.NoError(t, err)
		require.Len(t, found, len(related), "what %s refers to", product.ID())
	}
	nodes, err := v.Nodes(ctx, release.NodeQuery{Page: store.Page{First: &all}})
	require.NoError(t, err)
	require.Len(t, nodes.Items, 6)
}

func fileIDs(p *release.Product) (ids []string) {
	for _, link := range p.FileLinks() {
		ids = append(ids, link.ID)
	}
	return ids
}

func TestDemoShopContents(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), open(t)
	require.NoError(t, demo.Fill(ctx, s))
	three := 3
	coffee := release.ProductQuery{NodeID: "node-coffee", Page: store.Page{First: &three}}

	page, err := view(t, s, release.ShopperContext{}).Products(ctx, coffee)
	require.NoError(t, err)
	var ids []string
	for _, product := range page.Items {
		require.True(t, product.Curated)
		ids = append(ids, product.ID())
	}
	require.Equal(t, []string{"prod-flat-white", "prod-latte", "prod-espresso"}, ids, "curated, in their order")

	for _, test := range []struct {
		languages             []language.Tag
		currency, name, price string
	}{
		{nil, "", "Caffè Latte, Large", "$5.80"},
		{[]language.Tag{language.German}, "EUR", "Caffè Latte, Groß", "4,90\u00a0€"},
		{[]language.Tag{language.French}, "EUR", "Caffè latte, grand", "4,90\u00a0€"},
	} {
		v := view(t, s, release.ShopperContext{Languages: test.languages, Currency: test.currency})
		large, err := v.Product(ctx, release.ProductKey{ID: "prod-latte-large"})
		require.NoError(t, err)
		require.Equal(t, test.name, large.Name(), test.languages)
		require.Equal(t, "prod-latte", large.ParentID())
		require.Equal(t, test.price, large.Price().Money().Formatted)
	}
	latte, err := view(t, s, release.ShopperContext{}).Product(ctx, release.ProductKey{SKU: "COF-LAT"})
	require.NoError(t, err)
	require.Len(t, latte.ChildIDs(), 3)
	breakfast, err := view(t, s, release.ShopperContext{}).Product(ctx, release.ProductKey{Slug: "breakfast"})
	require.NoError(t, err)
	require.Len(t, breakfast.Components(), 2)
	require.Len(t, breakfast.ComponentProductIDs(), 6)
	_, err = view(t, s, release.ShopperContext{}).Product(ctx, release.ProductKey{ID: "prod-pumpkin-latte"})
	require.True(t, store.HasCode(err, store.NotFound), "a draft is not shown")
	stock, err := s.Stock.Get(ctx, "prod-cheesecake")
	require.NoError(t, err)
	require.Zero(t, stock.Available, "sold out")
}

func TestOpenCreatesClients(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), open(t)
	sealer, err := seal.New(make([]byte, seal.KeySize))
	require.NoError(t, err)
	tokens, err := auth.New(ctx, s.Access, sealer, auth.Options{})
	require.NoError(t, err)
	client, err := demo.Open(ctx, s, tokens)
	require.NoError(t, err)
	principal, err := tokens.Verify(ctx, client.Token)
	require.NoError(t, err)
	require.Equal(t, client.ClientID, principal.ClientID)
	require.Equal(t, access.Scopes(), principal.Scopes)
	_, err = s.Access.AuthenticateClient(ctx, client.ClientID, client.Secret)
	require.NoError(t, err)

	// A second start replaces the secret of the client.
	again, err := demo.Open(ctx, s, tokens)
	require.NoError(t, err)
	require.Equal(t, client.ClientID, again.ClientID)
	_, err = s.Access.AuthenticateClient(ctx, again.ClientID, again.Secret)
	require.NoError(t, err)
	clients, err := s.Access.Clients(ctx)
	require.NoError(t, err)
	require.Len(t, clients, 2, "that one and the public one")

	// The public client belongs to the demo server, and copies of the shop do not have it.
	public, err := tokens.Implicit(ctx, "demo", "")
	require.NoError(t, err)
	principal, err = tokens.Verify(ctx, public.AccessToken)
	require.NoError(t, err)
	require.Equal(t, []string{"catalog:read", "inventory:read"}, principal.Scopes)
	shopFile, err := os.ReadFile("shop.ndjson")
	require.NoError(t, err)
	require.NotContains(t, string(shopFile), "api_client")
	var out bytes.Buffer
	_, err = s.Exchange.Export(ctx, &out, exchange.ExportOptions{})
	require.NoError(t, err)
	require.NotContains(t, out.String(), "api_client")

	var text bytes.Buffer
	require.NoError(t, demo.PrintWelcome(&text, "http://127.0.0.1:1", client))
	for _, placeholder := range []string{"BASE", "CLIENT", "SECRET", "TOKEN"} {
		require.NotContains(t, text.String(), placeholder+"\n")
		require.NotContains(t, text.String(), placeholder+"/")
	}
}
