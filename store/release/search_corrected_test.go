package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// misspelledShop has products whose texts have typos themselves, SKUs that begin alike, and names with function words.
func misspelledShop() string {
	var b strings.Builder
	b.WriteString("products en\n")
	n := 0
	add := func(count int, name, description string) {
		for range count {
			n++
			fmt.Fprintf(&b, "BK-%05d | %s | %s\n", n, name, description)
		}
	}
	add(43, "Mayonnaise", "For salads.")
	add(2, "Mayonaise", "For burgers.")
	add(40, "Broccoli", "Green and fresh.")
	add(1, "Broccolli", "Frozen.")
	add(20, "Full Cream Milk", "In a box, for tires.")
	add(1, "Shopping List", "The list for your shop, a list that you never forget.")
	add(1, "List", "A list.")
	add(1, "The List", "A novel.")
	add(1, "The List of Names", "The list, a novel. List after list.")
	add(1, "Night Lamp", "For the night that never ends. Night after night.")
	add(1, "That Night", "A novel.")
	add(1, "Sandals", "Leather.")
	return b.String()
}

// TestMisspelledShop searches for what is mistyped, by the shopper or in the shop's own texts, and what is not.
func TestMisspelledShop(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		storetest.Import(t, s, parseJudgedShop(t, "misspelled", misspelledShop()).resources(t))
		storetest.Publish(t, s, "main")
		v := storetest.View(t, s, release.ShopperContext{})
		for _, c := range []struct {
			typed, first string
			total        int
			corrected    string
		}{
			{"mayonnaise", "Mayonnaise", 43, ""},
			{"mayonaise", "Mayonaise", 45, "mayonnaise"}, // as it is typed first, then what is twenty times as frequent
			{"mayonasie", "Mayonnaise", 45, "mayonnaise"},
			{"brocolli", "Broccoli", 41, "broccoli"}, // nearer to a typo of the shop
			{"broccolli", "Broccolli", 41, "broccoli"},
			{"sandal", "Sandals", 1, ""},
			{"sandles", "Sandals", 1, "sandals"},
			{"snadals", "Sandals", 1, "sandals"}, {"asndals", "Sandals", 1, "sandals"}, // two letters swapped, the first too
			{"null", "", 0, ""}, {"tyres", "Full Cream Milk", 20, "tires"}, {"xbox", "", 0, ""}, {"eyres", "", 0, ""}, // other words begin otherwise
			{"the list", "The List", 4, ""},
			{"list", "List", 4, ""},
			{"that night", "That Night", 2, ""},
			{"full", "Full Cream Milk", 20, ""},
			{"BK-99999", "", 0, ""}, {"bk 99999", "", 0, ""}, {"BK-99999 frobnicate", "", 0, ""},
			{"BK-00044", "Mayonaise", 1, ""},
			{"broccoli frobnicate", "", 0, ""}, // the rest is more than a tenth of the shop
			{"sandals frobnicate", "Sandals", 1, ""},
			{"!!!", "", 0, ""}, {"?", "", 0, ""},
		} {
			t.Run(c.typed, func(t *testing.T) {
				filter := searchFilter(t, c.typed)
				slice, err := v.Products(t.Context(), release.ProductQuery{Filter: filter, Sort: store.Sort{By: store.SortRelevance}})
				require.NoError(t, err)
				total, err := slice.Total(t.Context())
				require.NoError(t, err)
				first := ""
				if len(slice.Items) > 0 {
					first = slice.Items[0].Name()
				}
				corrected, err := v.CorrectedTo(t.Context(), filter)
				require.NoError(t, err)
				require.Equal(t, []any{c.first, c.total, c.corrected}, []any{first, total, corrected})
			})
		}
		suggested, err := v.Suggest(t.Context(), "!!!", 5)
		require.NoError(t, err)
		require.Equal(t, &release.Suggestions{}, suggested)
	})
}

// TestCategoriesLift searches for the name of a category, in any form, language and spelling.
func TestCategoriesLift(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		product := func(id, name, description string) string {
			return fmt.Sprintf(`{"type":"product","id":%q,"attributes":{"name":%q,"description":%q,"sku":%q,"slug":%q,"status":"live"},"relationships":{}}`, id, name, description, id, id)
		}
		node := func(id, name, locales, above, products string) string {
			return fmt.Sprintf(`{"type":"node","id":%q,"attributes":{"name":%q,"locales":{%s}},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}}%s,"products":{"data":[%s]}}}`, id, name, locales, above, products)
		}
		of := func(id string) string { return `{"type":"product","id":"` + id + `"}` }
		lines := []string{product("book", "Aspire A315", "A laptop for school and home, where a long text says much of what else there is."),
			product("bag", "Laptop Bag", "A laptop bag for each laptop."), product("new", "Laptop", "A laptop, one that no category has."),
			`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`, `{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"locale":"en"}}`,
			node("laptops", "Laptops", `"de":{"name":"Klapprechner"}`, "", ""), node("other", "Other", "", "", of("bag")+","+of("new")),
			node("small", "Small", "", `,"parent":{"data":{"type":"node","id":"laptops"}}`, of("book"))}
		storetest.Import(t, s, storetest.JoinLines(lines...))
		storetest.Publish(t, s, "main")
		search := func(language, text string) []string {
			return storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages(language)}),
				release.ProductQuery{Filter: searchFilter(t, text), Sort: store.Sort{By: store.SortRelevance}})
		}
		for _, text := range []string{"laptop", "LAPTOPS", "the laptop", "latpop"} {
			require.Equal(t, []string{"new", "book", "bag"}, search("en", text), "%s: a product of that name, and what is in the category", text)
		}
		require.Equal(t, []string{"bag", "new", "book"}, search("en", "laptop bag, laptop")[:3], "it is not the name of a category")
		storetest.Import(t, s, node("laptops", "Portable", "", "", "")+"\n")
		storetest.Publish(t, s, "main")
		require.Equal(t, []string{"new", "bag", "book"}, search("en", "laptop"), "the category has another name now")
	})
}
