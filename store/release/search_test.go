package release_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// searchShop returns the shop with products whose texts are hard to find.
func searchShop() string {
	product := func(id, name, description, locales string) string {
		return `{"type":"product","id":"` + id + `","attributes":{"name":"` + name + `","sku":"` + strings.ToUpper(id) + `-12/7","slug":"` + id +
			`","status":"live","description":"` + description + `","created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-01T00:00:00Z","locales":{` + locales + `}},"relationships":{}}`
	}
	ids := []string{"strasse", "smorgas", "thai", "phone", "hangul", "long", "arabic"}
	lines := []string{
		product("strasse", "Straßenkarte", "CRÈME brûlée, naïve façade; œuvre Łódź", `"fr":{"name":"Carte routière","description":"L'été à vélo"}`),
		product("smorgas", "Smørgås", "Rødgrød med fløde 100% C++ <b>x</b>", ""),
		product("thai", "Chair", "Plain.", `"th":{"name":"เก้าอี้ไม้","description":"ทำจากไม้สัก"},"zh-Hant":{"name":"木製椅子","description":"堅固耐用"}`),
		product("phone", "iPhone 手機殼", "ﬁne ①½ ＦＵＬＬ", `"ja":{"name":"コーヒーカップ","description":"ガラス"}`),
		product("hangul", "한국어 책상", "Ελληνικός ΣΊΣΥΦΟΣ", ""),
		product("long", "Long", strings.Repeat("x", 100)+" "+strings.Repeat("日", 40), ""),
		product("arabic", "Arabic", "كُرْسِيّ أحمر שָׁלוֹם", ""),
	}
	refs := `{"type":"product","id":"` + strings.Join(ids, `"},{"type":"product","id":"`) + `"}`
	lines = append(lines, `{"type":"node","id":"words","attributes":{"name":"Words"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"seasons"}},"products":{"data":[`+refs+`]}}}`)
	return storetest.ShopFile + storetest.JoinLines(lines...)
}

func TestSearch(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, searchShop())
		storetest.Publish(t, s, "main")
		t.Run("typed words", searchFinds(s))
		t.Run("scripts without spaces", searchScripts(backend))
		t.Run("text limits", searchBounds)
		t.Run("any text within the limits is valid", searchAnyText(s))
		t.Run("better matches first", searchRelevance(s))
		t.Run("a release of another format is published again", searchOtherFormat(backend))
	})
}

func searchFinds(s *shop.Store) func(*testing.T) {
	return func(t *testing.T) {
		for _, c := range []struct{ typed, locale, want string }{
			{"anvil", "", "anvil"},
			{"ANVIL", "", "anvil"},
			{"anv", "", "anvil"},                       // prefix of a word
			{"avnil", "", "anvil"},                     // mistyped
			{"nvil", "", ""},                           // the first letter is right
			{"BK-99999", "", ""},                       // no word of it
			{"anvil-99", "", "anvil"},                  // a part of a SKU, and in the name
			{"chair 99999", "", "thai"},                // a word is missing
			{"phone-99", "", ""},                       // a part of a SKU only
			{"vil", "", ""},                            // not the middle of a word
			{"heavy anv", "", "anvil"},                 // all words, in any text
			{"heav anvil", "", "anvil"},                // every word may be a prefix
			{"heav anvil anvil jar easel kit", "", ""}, // in a short search only
			{"anvil glue", "", "anvil glue"},           // no product has both, so one may be missing
			{"etats unis", "", "anvil"},                // without accents
			{"e\u0301tats", "", "anvil"},               // other accents
			{"🔨", "", ""},                              // no letter
			{"!!!", "", ""},                            //
			{"", "", "*"},                              // no condition
			{"  ", "", "*"},                            //
			{" \t\"' OR * ", "", ""},                   // an ordinary word
			{"NEAR(anvil, 5)", "", ""},                 // no query syntax
			{"anvil* AND", "", "anvil"},                //
			{"-anvil", "", "anvil"},                    //
			{"anvil:*", "", "anvil"},                   //
			{"easel", "", "easel"},                     // without its draft child
			{"secret", "", ""},                         // of a draft
			{"sku anvil", "", "anvil"},                 // "SKU" is not part of the SKU, and missing
			{"strasse", "", "strasse"},                 // in its SKU
			{"straßenk", "", "strasse"},                //
			{"STRASSENKARTE", "", "strasse"},           //
			{"strasse 12 7", "", "strasse"},            // parts of a SKU
			{"STRASSE-12/7", "", "strasse"},            // a whole SKU
			{"creme brulee", "", "strasse"},            //
			{"facade naive", "", "strasse"},            //
			{"oeuvre lodz", "", "strasse"},             //
			{"smorgas", "", "smorgas"},                 //
			{"rodgrod 100", "", "smorgas"},             //
			{"c++", "", "chalk smorgas strasse thai"},  // "c" as a prefix
			{"carte", "", ""},                          // not the shopper's language
			{"carte", "fr", "strasse"},                 //
			{"carte", "fr-CA", "strasse"},              //
			{"ete velo", "fr", "strasse"},              //
			{"straßenkarte velo", "fr", "strasse"},     // base text and translation together
			{"pinceau", "en, fr", ""},                  // the lookup ends at the base language
			{"ไม้", "th", "thai"},                      // within a run
			{"เก้าอี้", "th", "thai"},                  //
			{"เก้าอี้", "", ""},                        //
			{"ไม้ สัก", "th", "thai"},                  //
			{"椅", "zh-Hant", "thai"},                   // one character
			{"子", "zh-Hant", "thai"},                   // the last of a run
			{"椅子", "zh-TW, zh-Hant", "thai"},           //
			{"子椅", "zh-Hant", ""},                      //
			{"筆刷", "zh-Hant", "brush"},                 //
			{"手機", "", "phone"},                        // next to Latin letters
			{"iphone手機", "", "phone"},                  //
			{"fine 1½ full", "", "phone"},              // compatibility characters
			{"コーヒー", "ja", "phone"},                    //
			{"ｺｰﾋｰ", "ja", "phone"},                    // half width
			{"カラス", "ja", ""},                          // a voiced kana is another letter
			{"책상", "", "hangul"},                       //
			{"한국", "", "hangul"},                       // a prefix
			{"국어", "", ""},                             //
			{"ελληνικοσ σισυφος", "", "hangul"},        // any sigma, no accents
			{strings.Repeat("x", 100), "", "long"},     // by prefix
			{strings.Repeat("x", 40), "", "long"},      //
			{strings.Repeat("日", 9), "", "long"},       //
			{"كرسي احمر", "", "arabic"},                // without vowel signs
			{"שלום", "", "arabic"},                     //
		} {
			t.Run(c.typed+" in "+c.locale, func(t *testing.T) {
				v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages(c.locale)})
				search, err := index.NewSearch(c.typed)
				require.NoError(t, err)
				require.Equal(t, c.want == "*", search.Empty())
				if search.Empty() {
					return
				}
				got := storetest.ProductIDs(t, v, release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}, Sort: store.Sort{By: store.SortID}})
				require.Equal(t, strings.Fields(c.want), got, "%s", search)
			})
		}
	}
}

func searchBounds(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		words []string // of the error; nil if the text is valid
	}{
		"200 characters":     {strings.Repeat("é", 200), nil},
		"201 characters":     {strings.Repeat("é", 201), []string{"201 characters", "limit is 200"}},
		"20 words":           {strings.Repeat("a ", 20), nil},
		"21 words":           {strings.Repeat("a ", 21), []string{"21 words", "limit is 20"}},
		"one word of 200":    {strings.Repeat("木", 200), nil},
		"NUL":                {"a\x00b", []string{"without NUL"}},
		"a stray byte":       {"a\xff", []string{"UTF-8"}},
		"a lone surrogate":   {"\xed\xa0\x80", []string{"UTF-8"}},
		"nothing but spaces": {"   ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := index.NewSearch(c.text)
			if c.words == nil {
				require.NoError(t, err)
				return
			}
			storetest.RequireError(t, err, store.Invalid, "filter.search", c.words...)
		})
	}
}

func searchAnyText(s *shop.Store) func(*testing.T) {
	return func(t *testing.T) {
		v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages("th, zh-Hant, fr")})
		rapid.Check(t, func(t *rapid.T) {
			text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(["*()^:+-]|AND|OR|NOT|NEAR|anvil|é|木|ไ|'|;|--| ){0,12}`)).Draw(t, "text")
			search, err := index.NewSearch(text)
			if err != nil {
				storetest.RequireError(t, err, store.Invalid, "filter.search")
				return
			}
			if !search.Empty() {
				_, err = v.Products(t.Context(), release.ProductQuery{Filter: release.ProductFilter{Searches: []index.Search{search}}})
				require.NoError(t, err)
			}
		})
	}
}

func searchRelevance(s *shop.Store) func(*testing.T) {
	return func(t *testing.T) {
		v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages("fr")})
		for _, c := range []struct {
			typed, node string
			descending  bool
			want        string
		}{
			{"craie", "", false, "chalk"},
			{"p", "", false, "phone brush thai"},              // in the SKU PHONE-12/7, in the longer name Pinceau plat, in a description
			{"p", "", true, "thai brush phone"},               // the reverse
			{"c", "tools", false, "chalk"},                    // also "craie" in the description
			{"", "tools", false, "chalk anvil kit brush jar"}, // no search: the list's own order
			{"", "tools", true, "jar brush kit anvil chalk"},
		} {
			t.Run(c.typed+" in "+c.node, func(t *testing.T) {
				search, err := index.NewSearch(c.typed)
				require.NoError(t, err)
				query := release.ProductQuery{NodeID: c.node, Sort: store.Sort{By: store.SortRelevance, Descending: c.descending}}
				if !search.Empty() {
					query.Filter.Searches = []index.Search{search}
				}
				require.Equal(t, strings.Fields(c.want), storetest.ProductIDs(t, v, query))
			})
		}
	}
}

// searchOtherFormat publishes a catalog whose release is of another format.
func searchOtherFormat(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := storetest.OpenPublished(t, backend), backend.SQL(t)
		served := storetest.View(t, s, release.ShopperContext{}).Release.ID
		_, err := db.Exec(`UPDATE release SET format = 0`)
		require.NoError(t, err)
		otherServer := backend.Open(t, func(config *shop.Config) { config.NoCache = true })
		storetest.Publish(t, otherServer, "main") // without authored changes
		now := storetest.View(t, otherServer, release.ShopperContext{Languages: testkit.Languages("zh-Hant")})
		require.Greater(t, now.Release.ID, served)
		require.Equal(t, []string{"brush"}, storetest.ProductIDs(t, now, release.ProductQuery{Filter: searchFilter(t, "筆刷")}))
	}
}

// TestPagesByRelevance compares the pages of a long result, of which only the first products are sorted at
// first, with the reversed order, which is sorted whole.
func TestPagesByRelevance(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		backend.FullTestsOnlyOnPostgres(t)
		s := backend.Open(t)
		var lines, refs []string
		for i := range 230 {
			id := fmt.Sprintf("p%03d", i)
			lines = append(lines, fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":"Cup%s","sku":%q,"slug":%q,"status":"live","description":"cup"},"relationships":{}}`,
				id, strings.Repeat(" large", i%4), id, id))
			refs = append(refs, fmt.Sprintf(`{"type":"product","id":%q}`, id))
		}
		storetest.Import(t, s, storetest.JoinLines(append(lines, `{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`,
			`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"locale":"en"}}`,
			`{"type":"node","id":"all","attributes":{"name":"All"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+strings.Join(refs, ",")+`]}}}`)...))
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		read := func(offset int, descending bool) []string {
			return storetest.ProductIDs(t, v, release.ProductQuery{Filter: searchFilter(t, "cup"), Page: store.Page{First: new(30), Offset: &offset},
				Sort: store.Sort{By: store.SortRelevance, Descending: descending}})
		}
		var all, reversed []string
		for _, offset := range []int{0, 30, 60, 90, 120, 150, 180, 210} {
			all, reversed = append(all, read(offset, false)...), append(reversed, read(offset, true)...)
		}
		slices.Reverse(reversed)
		require.Len(t, store.Unique(all), 230)
		require.Equal(t, reversed, all)
	})
}
