package release_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/storetest"
)

func redirectProduct(id, slug string) string {
	return `{"type":"product","id":"` + id + `","attributes":{"name":"` + id + `","sku":"` + id + `","slug":"` + slug + `","status":"live"},"relationships":{}}`
}

func redirectNode(id, slug, parent, products string) string {
	if parent != "" {
		parent = `,"parent":{"data":{"type":"node","id":"` + parent + `"}}`
	}
	var refs []string
	for product := range strings.FieldsSeq(products) {
		refs = append(refs, `{"type":"product","id":"`+product+`"}`)
	}
	return `{"type":"node","id":"` + id + `","attributes":{"name":"` + id + `","slug":"` + slug + `"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}` + parent +
		`,"products":{"data":[` + strings.Join(refs, ",") + `]}}}`
}

const redirectShop = `{"type":"hierarchy","id":"h","attributes":{"name":"H","slug":"shop"}}
{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"]}}
`

func TestRedirects(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		publish := func(lines ...string) {
			storetest.Import(t, s, storetest.JoinLines(lines...))
			storetest.Publish(t, s, "main")
		}
		where := func(path string) string {
			v := storetest.View(t, s, release.ShopperContext{})
			r, err := v.Redirect(t.Context(), path)
			require.NoError(t, err)
			switch {
			case r == nil:
				return ""
			case r.Product != nil:
				return r.Path + " product " + r.Product.ID()
			case r.Node != nil:
				return r.Path + " node " + r.Node.ID
			}
			return r.Path
		}
		check := func(name string, want map[string]string) {
			t.Helper()
			for path, to := range want {
				require.Equal(t, to, where(path), "%s: %s", name, path)
			}
		}
		publish(redirectShop, redirectProduct("p1", "mug"), redirectProduct("p2", "cup"), redirectProduct("p3", "bowl"),
			redirectNode("n1", "kitchen", "", "p1"), redirectNode("n2", "mugs", "n1", "p1 p2"), redirectNode("n3", "", "", "p3"))
		check("nothing has changed", map[string]string{"mug": "", "kitchen": "", "kitchen/mugs/cup": "", "none": "", "": "", "/": ""})

		publish(redirectProduct("p1", "blue-mug"), redirectProduct("p3", "big-bowl"))
		check("slugs of products", map[string]string{
			"mug": "shop/kitchen/mugs/blue-mug product p1", "/mug/": "shop/kitchen/mugs/blue-mug product p1",
			"kitchen/mugs/mug": "shop/kitchen/mugs/blue-mug product p1", "bowl": "big-bowl product p3", // in a node without a path
			"blue-mug": "", "cup": "", "kitchen/blue-mug": "", "kitchen/mugs/blue-mug": "",
		})
		v := storetest.View(t, s, release.ShopperContext{})
		_, err := v.Product(t.Context(), release.ProductKey{Slug: "mug"})
		storetest.RequireError(t, err, store.NotFound, "")

		publish(redirectProduct("p1", "sky-mug"), redirectNode("n1", "cooking", "", "p1"))
		check("chains of slugs, and nodes", map[string]string{
			"mug": "shop/cooking/mugs/sky-mug product p1", "blue-mug": "shop/cooking/mugs/sky-mug product p1",
			"kitchen": "shop/cooking node n1", "shop/kitchen": "shop/cooking node n1",
			"kitchen/mugs": "shop/cooking/mugs node n2", "kitchen/mugs/cup": "shop/cooking/mugs/cup product p2",
			"kitchen/mugs/none": "", "cooking": "",
		})

		publish(redirectProduct("p2", "mug"))
		check("a slug that is used again", map[string]string{"mug": "", "cooking/mugs/mug": "", "cup": "shop/cooking/mugs/mug product p2", "blue-mug": "shop/cooking/mugs/sky-mug product p1"})

		before := where("old/mugs")
		storetest.Import(t, s, `{"type":"redirect","id":"r1","attributes":{"from":"/old/mugs/"},"relationships":{"target":{"data":{"type":"node","id":"n2"}}}}
{"type":"redirect","id":"r2","attributes":{"from":"older","to":"old/mugs"},"relationships":{}}
{"type":"redirect","id":"r3","attributes":{"from":"help","to":"https://help.example/?a=1"},"relationships":{}}
{"type":"redirect","id":"r4","attributes":{"from":"about","to":"pages/about"},"relationships":{}}
{"type":"redirect","id":"r5","attributes":{"from":"first","to":"kitchen"},"relationships":{}}
{"type":"redirect","id":"r6","attributes":{"from":"gone"},"relationships":{"target":{"data":{"type":"product","id":"p9"}}}}
`)
		require.Equal(t, before, where("old/mugs"), "only a publication changes redirects")
		storetest.Publish(t, s, "main")
		check("imported ones", map[string]string{
			"old/mugs": "shop/cooking/mugs node n2", "older": "shop/cooking/mugs node n2", "help": "https://help.example/?a=1",
			"about": "pages/about", "first": "shop/cooking node n1", "gone": "", "kitchen": "shop/cooking node n1",
		})
		storetest.Import(t, s, `{"type":"redirect","id":"r1","deleted":true}`)
		storetest.Publish(t, s, "main")
		check("one deleted", map[string]string{"old/mugs": "", "older": "old/mugs", "about": "pages/about"})

		_, err = storetest.View(t, s, release.ShopperContext{}).Redirect(t.Context(), strings.Repeat("a", release.MaxRedirectPath+1))
		storetest.RequireError(t, err, store.Invalid, "path", "1024 bytes")
		_, err = storetest.View(t, s, release.ShopperContext{}).Redirect(t.Context(), strings.Repeat("a/", 40)+"a")
		storetest.RequireError(t, err, store.Invalid, "path", "32 slugs")
		_, err = storetest.View(t, s, release.ShopperContext{}).Redirect(t.Context(), "a\x00")
		storetest.RequireError(t, err, store.Invalid, "path")
	})
}

// TestPathsOfRollBacks serves two releases in turns. At the second roll-back, each path still leads to what it showed last.
func TestPathsOfRollBacks(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, redirectShop+storetest.JoinLines(redirectProduct("p1", "mug"), redirectProduct("p2", "cup"), redirectNode("n1", "kitchen", "", "p1 p2")))
		storetest.Publish(t, s, "main")
		storetest.Import(t, s, storetest.JoinLines(redirectProduct("p1", "cup"), redirectProduct("p2", "mug"), redirectNode("n1", "cooking", "", "p1 p2")))
		storetest.Publish(t, s, "main")
		kept, err := s.Releases.List(t.Context(), "main")
		require.NoError(t, err)
		require.Len(t, kept, 2)
		for _, release := range []int{1, 0, 1} { // the last one is first
			_, err := s.Releases.Serve(t.Context(), storetest.Actor, kept[release].UUID())
			require.NoError(t, err)
		}
		found, err := storetest.View(t, s, release.ShopperContext{}).Redirect(t.Context(), "cooking/cup")
		require.NoError(t, err)
		require.NotNil(t, found)
		require.Equal(t, "shop/kitchen/mug", found.Path)
	})
}

// TestPathsChangeInWholeReleases changes so many products that a publication writes a whole release.
func TestPathsChangeInWholeReleases(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		s := backend.Open(t)
		for _, prefix := range []string{"old-", "new-"} {
			lines := []string{redirectShop}
			var ids []string
			for i := range 700 {
				id := "p" + strconv.Itoa(i)
				lines, ids = append(lines, redirectProduct(id, prefix+id)), append(ids, id)
			}
			storetest.Import(t, s, storetest.JoinLines(append(lines, redirectNode("all", "all", "", strings.Join(ids, " ")))...))
			storetest.Publish(t, s, "main")
		}
		v := storetest.View(t, s, release.ShopperContext{})
		require.Zero(t, v.Release.BaseID)
		for _, id := range []string{"p0", "p511", "p512", "p699"} {
			r, err := v.Redirect(t.Context(), "old-"+id)
			require.NoError(t, err)
			require.NotNil(t, r, id)
			require.Equal(t, "shop/all/new-"+id, r.Path)
		}
	})
}
