package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// synonymShop has products whose names say what they are in different words.
func synonymShop() string {
	product := func(id, name, locales string) string {
		return `{"type":"product","id":"` + id + `","attributes":{"name":"` + name + `","sku":"` + id + `","slug":"` + id + `","status":"live","locales":{` + locales + `}},"relationships":{}}`
	}
	lines := []string{
		product("sofa", "Sofa", ""), product("couch", "Leather Couch in Brown with Six Cushions", ""), product("settee", "Settee", ""),
		product("trainers", "Trainers", `"de":{"name":"Turnschuh"}`), product("shoe", "Shoe for Running", ""), product("walk", "Walking Shoe", ""),
		product("tablet", "Tablet", ""), product("ipad", "iPad", ""), product("surface", "Surface Pro", ""),
		product("phone", "Handheld", `"de":{"name":"Mobiltelefon"},"zh-Hant":{"name":"行動電話"}`), product("cn", "Thing", `"zh-Hant":{"name":"手機殼"}`),
		`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"locale":"en"}}`,
		`{"type":"node","id":"all","attributes":{"name":"All"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[` +
			`{"type":"product","id":"sofa"},{"type":"product","id":"couch"},{"type":"product","id":"settee"},{"type":"product","id":"trainers"},{"type":"product","id":"shoe"},{"type":"product","id":"walk"},` +
			`{"type":"product","id":"tablet"},{"type":"product","id":"ipad"},{"type":"product","id":"surface"},{"type":"product","id":"phone"},{"type":"product","id":"cn"}]}}}`,
	}
	return storetest.JoinLines(lines...)
}

const synonymLines = `{"type":"synonym","id":"sofas","attributes":{"kind":"equivalent","terms":["Sofa","couch","settee"]}}
{"type":"synonym","id":"trainers","attributes":{"kind":"equivalent","terms":["trainers","running shoe"]}}
{"type":"synonym","id":"tablets","attributes":{"kind":"one_way","term":"tablet","terms":["iPad","Surface Pro"]}}
{"type":"synonym","id":"phones","attributes":{"kind":"equivalent","locale":"de","terms":["Handy","Mobiltelefon"]}}
{"type":"synonym","id":"chinese","attributes":{"kind":"one_way","locale":"zh","term":"行動電話","terms":["手機"]}}
`

func TestSynonyms(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, synonymShop())
		storetest.Publish(t, s, "main")
		find := func(t *testing.T, typed, locale string) string {
			search, err := index.NewSearch(typed)
			require.NoError(t, err)
			v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages(locale)})
			return strings.Join(storetest.ProductIDs(t, v, release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}, Sort: store.Sort{By: store.SortRelevance}}), " ")
		}
		require.Equal(t, "couch", find(t, "couch", ""))
		storetest.Import(t, s, synonymLines)
		require.Equal(t, "couch", find(t, "couch", ""), "only a publication changes what shoppers find")
		before := storetest.View(t, s, release.ShopperContext{}).Release
		storetest.Publish(t, s, "main")
		require.NotEqual(t, before.ID, storetest.View(t, s, release.ShopperContext{}).Release.ID)
		for _, c := range []struct{ typed, locale, want string }{
			{"couch", "", "couch settee sofa"}, // the word itself first, even in a long name
			{"couches", "", "couch settee sofa"},
			{"sofa", "", "sofa couch settee"},
			{"leather sofa", "", "couch sofa settee"},   // by a synonym of one of its words; the others lack one
			{"trainers", "", "trainers shoe"},           // to a term of two words: a product has both
			{"running shoes", "", "shoe trainers walk"}, // from a term of two words, in another form
			{"cheap running shoe", "", "shoe trainers"}, // one word may be missing
			{"shoe", "", "shoe walk"},                   // a part of a term is no term
			{"tablet", "", "tablet ipad surface"},       // one way
			{"ipad", "", "ipad"},                        // not the other
			{"surface pro", "", "surface"},              //
			{"handy", "", ""},                           // of another language
			{"handy", "de", "phone"},                    //
			{"handy", "de-AT, de", "phone"},             //
			{"行動電話", "zh-Hant", "phone cn"},             // in scripts without spaces
			{"手機", "zh-Hant", "cn"},                     //
		} {
			want := c.want
			if c.typed == "handy" && c.locale == "" {
				want = find(t, "handy", "fr") // mistyped for handheld, or nothing
			}
			if got := find(t, c.typed, c.locale); got != want {
				t.Errorf("%s in %s: %s, not %s", c.typed, c.locale, got, want)
			}
		}

		storetest.Import(t, s, `{"type":"synonym","id":"sofas","deleted":true}`)
		require.Equal(t, "couch settee sofa", find(t, "couch", ""))
		storetest.Publish(t, s, "main")
		require.Equal(t, "couch", find(t, "couch", ""))
		require.Equal(t, "tablet ipad surface", find(t, "tablet", ""), "a delta has the others")
	})
}
