package e2e

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// threeCatalogs is a shop with a catalog for the channel web, one for the channel shop and one for the tag vip. They share
// products, hierarchies and the price book of list prices. Two have special prices.
const threeCatalogs = `{"type":"settings","page_length":20,"currency":"USD","locale":"en"}
{"type":"product","id":"mug","attributes":{"name":"Mug","sku":"MUG","slug":"mug","status":"live","created_at":"2026-01-01T00:00:00Z","locales":{"fr":{"name":"Tasse"}}}}
{"type":"product","id":"cup","attributes":{"name":"Cup","sku":"CUP","slug":"cup","status":"live","created_at":"2026-01-02T00:00:00Z"}}
{"type":"product","id":"tee","attributes":{"name":"Tee","sku":"TEE","slug":"tee","status":"live","created_at":"2026-01-03T00:00:00Z"}}
{"type":"product","id":"cap","attributes":{"name":"Cap","sku":"CAP","slug":"cap","status":"live","created_at":"2026-01-04T00:00:00Z"}}
{"type":"hierarchy","id":"home","attributes":{"name":"Home","slug":"home"}}
{"type":"hierarchy","id":"wear","attributes":{"name":"Wear","slug":"wear"}}
{"type":"hierarchy","id":"hats","attributes":{"name":"Hats","slug":"hats"}}
{"type":"node","id":"mugs","attributes":{"name":"Mugs","slug":"mugs","curated_products":["cup"]},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"home"}},"products":{"data":[{"type":"product","id":"mug"},{"type":"product","id":"cup"}]}}}
{"type":"node","id":"tees","attributes":{"name":"Tees","slug":"tees"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"wear"}},"products":{"data":[{"type":"product","id":"tee"}]}}}
{"type":"node","id":"caps","attributes":{"name":"Caps","slug":"caps"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"hats"}},"products":{"data":[{"type":"product","id":"cap"},{"type":"product","id":"mug"}]}}}
{"type":"pricebook","id":"list","attributes":{"name":"List prices"}}
{"type":"pricebook","id":"online","attributes":{"name":"Online prices"}}
{"type":"pricebook","id":"club","attributes":{"name":"Club prices"}}
{"type":"product-price","id":"list-mug","attributes":{"sku":"MUG","currencies":{"USD":{"amount":1000},"EUR":{"amount":900,"includes_tax":true}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}}}
{"type":"product-price","id":"list-cup","attributes":{"sku":"CUP","currencies":{"USD":{"amount":800},"EUR":{"amount":700,"includes_tax":true}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}}}
{"type":"product-price","id":"list-tee","attributes":{"sku":"TEE","currencies":{"USD":{"amount":2000}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}}}
{"type":"product-price","id":"list-cap","attributes":{"sku":"CAP","currencies":{"USD":{"amount":1500}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"list"}}}}
{"type":"product-price","id":"online-mug","attributes":{"sku":"MUG","currencies":{"USD":{"amount":950},"EUR":{"amount":850,"includes_tax":true}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"online"}}}}
{"type":"product-price","id":"club-mug","attributes":{"sku":"MUG","currencies":{"USD":{"amount":700},"EUR":{"amount":600,"includes_tax":true}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"club"}}}}
{"type":"catalog","id":"catalog-web","attributes":{"name":"Web","hierarchies":["home","wear"],"pricebook_ids":[{"id":"online","priority":2},{"id":"list","priority":1}],"locale":"en","currency":"USD","created_at":"2026-01-01T00:00:00Z"}}
{"type":"catalog","id":"catalog-shop","attributes":{"name":"Shop","hierarchies":["home","hats"],"pricebook_ids":[{"id":"list","priority":1}],"locale":"en","currency":"USD","created_at":"2026-01-02T00:00:00Z"}}
{"type":"catalog","id":"catalog-club","attributes":{"name":"Club","hierarchies":["home","hats"],"pricebook_ids":[{"id":"club","priority":2},{"id":"list","priority":1}],"locale":"en","currency":"EUR","created_at":"2026-01-03T00:00:00Z"}}
{"type":"catalog_rule","id":"rule-web","attributes":{"name":"Web","catalog_id":"catalog-web","channels":["web"]}}
{"type":"catalog_rule","id":"rule-shop","attributes":{"name":"Shop","catalog_id":"catalog-shop","channels":["shop"]}}
{"type":"catalog_rule","id":"rule-club","attributes":{"name":"Club","catalog_id":"catalog-club","tags":["vip"]}}
{"type":"stock","id":"mug","available":5,"allocated":1,"total":6}
{"type":"stock","id":"cap","available":3,"allocated":0,"total":3}
`

// TestCatalogsOfShoppersMoveIn imports the catalogs of three shoppers of a server into one database, one after the other.
// After each import, all shoppers so far see what they see on the server.
func TestCatalogsOfShoppersMoveIn(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	lines := filepath.Join(t.TempDir(), "shop.ndjson")
	require.NoError(t, os.WriteFile(lines, []byte(threeCatalogs), 0o600))
	mustRun(t, append([]string{"import", lines}, flags...)...)
	first := startServer(t, append(flags, unlimited...)...)
	from, _ := fromFlags(t, first, flags)
	readers := tokenOf(t, first, flags)
	titles := filepath.Join(t.TempDir(), "titles.ndjson")
	require.NoError(t, os.WriteFile(titles, []byte(`{"type":"product","id":"mug","attributes":{"seo":{"title":"Ours"}}}
{"type":"product","id":"tee","attributes":{"seo":{"title":"Ours"}}}
`), 0o600))
	shoppers := []struct{ flags, headers []string }{
		{[]string{"--from-channel", "web"}, []string{"Store-Channel", "web"}},
		{[]string{"--from-tag", "vip"}, []string{"Store-Context-Tag", "vip"}},
		{[]string{"--from-channel", "shop"}, []string{"Store-Channel", "shop"}},
	}
	for _, how := range []struct {
		name   string
		flags  []string
		titled []string // products that keep a title that was written before the last import
	}{{"whole resources", nil, []string{"tee"}}, {"merged", []string{"--merge"}, []string{"mug", "tee"}}} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
				e.FullTestsOnlyOnPostgres(t)
				target := e.URL(t)
				if e.Name == "sqlite" {
					target = "file:" + filepath.Join(t.TempDir(), "moved.db")
				}
				moved := []string{"--database-url", target}
				folders := t.TempDir()
				move := func(i int, more ...string) string {
					folder := filepath.Join(folders, strconv.Itoa(i))
					return mustRun(t, slices.Concat([]string{"import", "--from-language", "fr", "--from-folder", folder}, moved, from, shoppers[i].flags, how.flags, more)...)
				}
				var second *serverProcess
				var token string
				for i := range shoppers {
					require.Contains(t, move(i), "published "+[]string{"catalog-web", "catalog-club", "catalog-shop"}[i]+": release ")
					if second == nil {
						second = startServer(t, append(append(moved, "--key-file", strings.TrimSuffix(path, ".db")+".key"), unlimited...)...)
						token = tokenOf(t, second, moved)
					}
					for _, known := range shoppers[:i+1] {
						want, got := shopReader{t, first, readers, known.headers}, shopReader{t, second, token, known.headers}
						// servers switch to what another process publishes within a second
						testkit.Eventually(t, true, func() bool { return reflect.DeepEqual(want.read("/catalog"), got.read("/catalog")) })
						compareShops(t, want, got)
					}
				}
				mustRun(t, append([]string{"import", "--merge", titles}, moved...)...)
				move(len(shoppers) - 1) // its catalog has the mug
				exported := filepath.Join(t.TempDir(), "moved.ndjson")
				mustRun(t, append([]string{"export", exported}, moved...)...)
				text, err := os.ReadFile(exported)
				require.NoError(t, err)
				var titled []string
				for line := range strings.Lines(string(text)) {
					if strings.Contains(line, `"title":"Ours"`) {
						titled = append(titled, line[len(`{"type":"product","id":"`):][:3])
					}
				}
				require.ElementsMatch(t, how.titled, titled)
				for i := range shoppers {
					again := move(i, "--dry-run")
					require.Equal(t, i == 0, strings.Contains(again, "would update"), again) // the time of the tee, and its title unless merged
					require.NotContains(t, again, "would create")
				}
			})
		})
	}
}
