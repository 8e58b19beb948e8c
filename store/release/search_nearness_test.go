package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/release"
	"portico/store/storetest"
)

// nearnessShop has products whose names have the same words in other places, those that match best last.
const nearnessShop = `
products en
APART | Milk Dark Drink Chocolate | Chocolate milk.
TURNED | Dark Drink Milk Chocolate | Chocolate milk.
NEAR | Dark Drink Chocolate Milk | Plain.
MILL | Salt Mill Big and Pepper | Plain.
SALT | Mill Big Salt and Pepper | Plain.
LONG | One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen velvet curtain | Plain.
products de
APART | Milch Schokolade | Text.
NEAR | Milch dunkle Schokolade | Text.
`

// TestNearness compares the order of products that have the words of a search at different places of names of the
// same length, in a whole release and after a delta.
func TestNearness(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		judged := parseJudgedShop(t, "nearness", nearnessShop)
		storetest.Import(t, s, judged.resources(t))
		storetest.Publish(t, s, "main")
		for _, c := range []struct{ language, text, want string }{
			{"en", "chocolate milk", "NEAR TURNED APART"},
			{"en", "milk chocolate", "TURNED APART NEAR"},  // chocolate milk is no chocolate
			{"en", "drink chocolate", "APART TURNED NEAR"}, // with a word between
			{"en", "chocolate mil", "NEAR TURNED APART"},   // the beginning of a word
			{"en", "chocolatte milk", "NEAR TURNED APART"}, // mistyped
			{"en", "salt and pepper", "SALT MILL"},         // with a function word between them, as in the search
			{"en", "salt pepper", "SALT MILL"},             //
			{"en", "velvet curtain", "LONG"},               // beyond the places that are known
			{"de", "dark milch", "APART NEAR TURNED"},      // in names of two languages, so the shorter German one counts
			{"de", "milch schokolade", "APART NEAR"},       //
		} {
			t.Run(c.text+" in "+c.language, func(t *testing.T) {
				found := judgedSearch(t, s, judgedQuery{language: c.language, text: c.text})
				require.Equal(t, strings.Fields(c.want), found)
			})
		}
		judged.products[0].texts["en"] = judged.products[2].texts["en"]
		storetest.Import(t, s, judged.resources(t))
		storetest.Publish(t, s, "main")
		require.NotZero(t, storetest.View(t, s, release.ShopperContext{}).Release.BaseID, "it is a delta")
		require.Equal(t, []string{"APART", "NEAR", "TURNED"}, judgedSearch(t, s, judgedQuery{language: "en", text: "chocolate milk"}))
	})
}
