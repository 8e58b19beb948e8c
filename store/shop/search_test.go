package shop_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"portico/store"
	"portico/store/index"
)

// FuzzSearch checks that any text is accepted or refused as too long, and that Unicode
// normalization and case do not change a search.
//
//	go test ./store/shop -run - -fuzz FuzzSearch
func FuzzSearch(f *testing.F) {
	for _, text := range []string{"", "anvil", "Heavy ANV", "a\x00", "\xff", "É\u0301té", "Straße ﬁne", "เก้าอี้ไม้", "木製椅子 x", "コーヒー ｺｰﾋｰ", "한국어 책상", "كُرْسِيّ",
		`" OR 1=1 --`, "NEAR(a, b)*", "a:* & !b", strings.Repeat("a ", 30), strings.Repeat("x", 300), "\u200d\u00ad", "İı", "e\u0323\u0301", "\U0001F468\u200d\U0001F469"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		search, err := index.NewSearch(text)
		if err != nil {
			require.True(t, store.HasCode(err, store.Invalid), "%v", err)
			require.Equal(t, []string{"filter", "search"}, store.AsErrors(err)[0].Path)
			return
		}
		require.True(t, utf8.ValidString(search.Typed))
		for _, same := range []string{norm.NFC.String(text), norm.NFD.String(text), " " + text + " !"} {
			if again, err := index.NewSearch(same); err == nil { // it may exceed the limit
				require.Equal(t, search.Key(), again.Key(), "%q as %q", text, same)
			}
		}
	})
}
