package index

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestProductTokens(t *testing.T) {
	t.Parallel()
	tokens := NewProductTokens("", "en", "Reese's T-Shirt", "Crew-neck shirt, made in the U.S.A. Made well", "24-WB04")
	for token, want := range map[string]Occurrence{
		"reese":    {Named: true, NameWords: 4, Position: 1},
		"reeses":   {Named: true, NameWords: 4, Position: 2},
		"tshirt":   {Named: true, NameWords: 4, Position: 4, Role: RoleHead},
		"24":       {Named: true, InSKU: true},
		"24wb04":   {Named: true, InSKU: true, WholeSKU: true},
		"crewneck": {Texts: 1, TextWords: 11}, "made": {Texts: 2, TextWords: 11}, "usa": {Texts: 1, TextWords: 11},
		"crew": {Texts: 1, TextWords: 11}, "shirt": {Named: true, NameWords: 4, Position: 4, Role: RoleHead, Texts: 1, TextWords: 11},
	} {
		got, found := tokens.Tokens[token]
		require.True(t, found, token)
		require.Equal(t, want, got, token)
	}
	require.NotContains(t, tokens.Tokens, "neckmade")
	require.Contains(t, NewProductTokens("", "en", "MH07", "", "MH07").Tokens, "mh07")
	require.True(t, NewProductTokens("", "en", "MH07 Hoodie", "", "MH07").Tokens["mh07"].WholeSKU)
}

// TestOccurrencesRoundTrip decodes what was encoded, and combines lists like a map does.
func TestOccurrencesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var union OccurrenceUnion
		want := map[uint32]occurrenceCode{}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for range rapid.IntRange(1, 4).Draw(t, "lists") {
			var list []byte
			of := map[uint32]occurrenceCode{}
			last := uint32(0)
			for _, ordinal := range slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.Uint32Range(0, 100_000), 1, 20, rapid.ID[uint32]).Draw(t, "ordinals"))) {
				o := drawOccurrence(random)
				list, last = AppendOccurrence(list, ordinal-last, o), ordinal
				of[ordinal] = o.code()
				if decoded := namePlaces[o.code().name]; o.Position > 0 {
					require.Equal(t, []any{o.Position, o.Role, o.NameWords}, []any{decoded.Position, decoded.Role, decoded.NameWords}, "short names are exact")
				}
			}
			got := map[uint32]occurrenceCode{}
			OccurrenceList{Body: list}.Each(func(ordinal uint32, code occurrenceCode) { got[ordinal] = code })
			require.Equal(t, of, got)
			for ordinal, code := range of {
				if was, known := want[ordinal]; !known || headStrengths.of(code) > headStrengths.of(was) {
					want[ordinal] = code
				}
			}
			union.Add(list)
		}
		got := map[uint32]occurrenceCode{}
		OccurrenceList{Body: union.Take()}.Each(func(ordinal uint32, code occurrenceCode) { got[ordinal] = code })
		require.Equal(t, want, got)
		require.Empty(t, union.Take())
	})
}

// TestNameRoles lists the words of names that say what the product is, and those that only say what for.
func TestNameRoles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ locale, name, heads, later, aside string }{
		{"en", "Laptop Privacy Filter", "filter", "", ""},
		{"en", "Privacy Filter for Laptop", "filter", "", "for laptop"},
		{"en", "HP EliteBook 840 G5 Notebook Black 39.6 cm", "elitebook 840 g5 notebook black 39 6 cm", "", ""},
		{"en", "ASUS Laptop 15.6 inch with Bag, Black", "laptop 15 6 inch", "black", "with bag"},
		{"en", "Logitech K120 Keyboard USB QWERTY", "logitech k120 keyboard usb qwerty", "", ""},
		{"en", "Samsung 55 inch Smart TV", "samsung 55 smart tv", "", ""},
		{"en", "TV Wall Mount - 55 inch", "mount", "55 inch", ""},
		{"en", "Stand-by Lamp", "lamp", "", ""},
		{"fr", "Câble pour moniteur", "cable", "", "pour moniteur"},
		{"fr", "Filtre de confidentialité", "filtre", "", "de confidentialite"},
		{"de", "Tasche für Laptop", "tasche", "", "fur laptop"},
		{"en", "", "", "", ""},
	} {
		words := slices.Collect(splitWords(c.name))
		var got [roleCount][]string
		for i, role := range nameRoles(c.name, c.locale, words) {
			got[role] = append(got[role], words[i].text)
		}
		require.Equal(t, []string{c.heads, c.later, c.aside}, []string{strings.Join(got[RoleHead], " "), strings.Join(got[RoleLater], " "), strings.Join(got[RoleAside], " ")}, c.name)
	}
}

// newVocabulary returns a vocabulary of words, as it is read from a release.
func newVocabulary(language string, words ...string) *Vocabulary {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	return UnpackVocabulary(PackVocabulary(language, words, make([]uint32, len(words))))
}

func TestVocabulary(t *testing.T) {
	t.Parallel()
	v := newVocabulary("de", "hund", "hunde", "hundefutter", "katzenfutter", "futter", "gluhbirne", "bücher")
	require.Equal(t, 7, v.Len())
	require.True(t, v.Has("katzenfutter"))
	require.False(t, v.Has("katze"))
	require.Equal(t, []string{"hund", "hunde"}, v.Stemmed(Stem("de", "hunden"), 9))
	require.Equal(t, []string{"hund"}, v.Stemmed(Stem("de", "hunden"), 1))
	require.ElementsMatch(t, []string{"hundefutter", "katzenfutter"}, v.Suffixed("futter", 3, 9))
	require.Empty(t, newVocabulary("de").Suffixed("futter", 3, 9))
	for token, want := range map[string]bool{"futter": true, "a": false, "24wb04": false, "เก้า\x1f": false, "bücher": true, strings.Repeat("x", 41): false} {
		require.Equal(t, want, IsVocabularyWord(token), token)
	}
}

// TestSplits lists the parts by which a word that no text has is found: groups of words, of which a product must
// have one each.
func TestSplits(t *testing.T) {
	t.Parallel()
	german := []WordSource{{newVocabulary("de", "kinder", "fahrrad", "helm", "fahrradhelm", "geburtstag", "kuchen", "rad"), "de"}}
	english := []WordSource{{newVocabulary("en", "ice", "cream", "birthday", "cakes"), "en"}}
	for _, c := range []struct {
		sources    []WordSource
		text, want string
	}{
		{german, "kinderfahrradhelm", "kinder+fahrradhelm"},
		{german, "geburtstagskuchen", "geburtstag+kuchen"},                // with linking letters
		{german, "geburtstagsfahrradkuchen", "geburtstag+fahrrad+kuchen"}, // the end of fahrrad is rad
		{german, "kinderrad", "kinder+rad kinder+fahrrad|rad"},            // a longer word ends with rad
		{german, "kindertasche", ""}, {german, "abhelm", ""},
		{english, "icecream", "ice+cream"}, {english, "birthdaycake", ""}, // English joins no words
	} {
		search, err := NewSearch(c.text)
		require.NoError(t, err)
		var ways []string
		for _, way := range NewExpander(search, c.sources, nil, nil).Fallbacks(0) {
			var parts []string
			for _, group := range way.All {
				var words []string
				for _, token := range group {
					words = append(words, token.Text)
				}
				parts = append(parts, strings.Join(words, "|"))
			}
			ways = append(ways, strings.Join(parts, "+"))
		}
		require.Equal(t, c.want, strings.Join(ways, " "), c.text)
	}
}

func TestSimilar(t *testing.T) {
	t.Parallel()
	v := newVocabulary("en", "gloves", "helmet", "handles", "sandals", "thermos", "messenger", "jacket", "chocolate", "chocolates")
	for typed, want := range map[string]string{
		"glvoes": "gloves", "helmt": "helmet", "termos": "thermos", "mesenger": "messenger", "jaket": "jacket", "choclate": "chocolate",
		"sandles": "handles sandals",                   // a different first letter counts as one edit more
		"null":    "", "elmet": "", "ehlmet": "helmet", // the first letter is right, or swapped with the next
		"helmrt": "helmet", "hewmet": "", // a key beside the right one, and one that is not
		"xyzxyz": "", "glo": "", "helmetsandmore": "",
	} {
		var nearest []string
		similar, _ := v.Similar(typed, MaxDistance(typed), false, 0)
		for _, word := range similar {
			if len(nearest) == 0 || word.Distance == similar[0].Distance {
				nearest = append(nearest, word.Text)
			}
		}
		require.Equal(t, want, strings.Join(nearest, " "), typed)
	}
	similar, _ := v.Similar("mesen", 1, true, 0)
	require.Equal(t, "messenger", similar[0].Text, "of a prefix")
}

// TestCorrection lists typed words with words that correct them, and words that do not because the typed word is likelier one
// that the shop does not have.
func TestCorrection(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, corrected, not string }{
		{"sofa", "", "soft sofas soda"}, {"wifi", "", "wife"}, {"sota", "", "soft"}, {"fosa", "", "soft"}, // four letters: no edit
		{"soaf", "sofa", "soft sofas"}, {"osfa", "sofa", ""}, // but a swap, of the first two as well
		{"tea", "", "tae eat teas"}, {"tae", "", "tea"}, // fewer letters: nothing
		{"tyres", "tires tyre tyress tryes", "types dyres yres"}, // five: one edit that keeps the first letter, and is likely
		{"chait", "chair chat", "chain chai_s"}, {"horse", "hoarse hose", "house norse morse"}, {"couch", "", "cough pouch"},
		{"cofee", "coffee", "coffees"}, {"ocffee", "coffee", "toffee"}, {"brulle", "brulee", "brulfe"}, {"brulee", "brulle", ""}, {"musik", "music", ""},
		{"coffeee", "coffee coffees toffeee", "coffe_rs"},                                                  // seven: two edits, and another first letter is one more
		{"малоко", "молоко", "налоко"}, {"חולצה", "חולצ חלוצה", "חולצט"}, {"커피머신기", "커피신머기 커피머신", "커피머신지"}, // no keyboard is known: no replaced letter
	} {
		var table distanceTable
		corrects := func(text string) bool {
			most := MaxDistance(c.typed)
			return most > 0 && table.correction([]rune(c.typed), text, most, false) <= most
		}
		for word := range strings.FieldsSeq(c.corrected) {
			require.True(t, corrects(word), "%s for %s", word, c.typed)
		}
		for word := range strings.FieldsSeq(c.not) {
			require.False(t, corrects(word), "%s for %s", word, c.typed)
		}
	}
	var table distanceTable
	for typed, begins := range map[string]map[string]bool{
		"moutna": {"mountain": true}, "muon": {"mountain": true}, "chair": {"chainsaw": false}, "chiar": {"chainsaw": false, "chairs": true}, "sofa": {"softener": false},
	} {
		for word, want := range begins {
			require.Equal(t, want, table.correction([]rune(typed), word, 1, true) <= 1, "%s begins as %s", word, typed)
		}
	}
}

// TestNameKeys compares names by their letters and by their stems.
func TestNameKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		locale, name, other string
		letters, stems      bool
	}{
		{"en", "Sweet Tea", "SWEET TEA!", true, true}, {"en", "Sweet Tea", "sweet teas", false, true}, {"en", "Sweet Tea", "Organic Sweet Tea", false, false},
		{"en", "Reese's Cups", "reeses cups", true, true}, {"en", "Reese's Cups", "reeses cup", false, true}, {"en", "T-Shirt", "t shirts", false, true},
		{"en", "The List", "list", false, true}, {"en", "The List", "the list", true, true}, {"de", "Hundeleine", "Hundeleinen", false, true},
		{"de", "Käse", "kase", true, true}, {"zh", "蓝色帽子", "蓝色 帽子", true, true}, {"zh", "蓝色帽子", "帽子", false, false}, {"en", "That That", "that", false, true},
	} {
		letters, stems := NameKeys("", c.locale, c.name)
		otherLetters, otherStems := NameKeys("", c.locale, c.other)
		require.Equal(t, []bool{c.letters, c.stems}, []bool{letters == otherLetters, stems == otherStems}, "%s and %s", c.name, c.other)
	}
	french, _ := NameKeys("fr", "fr", "Mug")
	base, _ := NameKeys("", "fr", "Mug")
	require.NotEqual(t, french, base, "of another language")
	once, err := NewSearch("bora bora")
	require.NoError(t, err)
	twice, err := NewSearch("bora bora bora")
	require.NoError(t, err)
	require.NotEqual(t, once.Key(), twice.Key(), "one is a name that the other is not")
}

// TestSimilarIsComplete compares with the distance to every word, for words of seven and more letters with
// one edit, and shorter ones likewise.
func TestSimilarIsComplete(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[abc]{4,9}`), 1, 30).Draw(t, "words")
		v := newVocabulary("en", words...)
		typed := rapid.StringMatching(`[abc]{4,9}`).Draw(t, "typed")
		found, compared := v.Similar(typed, 1, false, 0)
		require.LessOrEqual(t, len(found), compared)
		require.LessOrEqual(t, compared, v.SimilarSteps(typed, 0))
		var table distanceTable
		for i := range v.Len() {
			word := v.Word(uint32(i))
			near := table.correction([]rune(typed), word, 1, false) <= 1
			has := slices.ContainsFunc(found, func(s SimilarWord) bool { return s.Text == word })
			require.Equal(t, near, has, "%s for %s", word, typed)
		}
	})
}

// TestMatch lists what products are found by lists of words, and in which order.
func TestMatch(t *testing.T) {
	t.Parallel()
	list := func(weight uint32, named ...uint32) WordMatches {
		var body []byte
		last := uint32(0)
		for _, ordinal := range named {
			body, last = AppendOccurrence(body, ordinal-last, Occurrence{Named: true, NameWords: 4}), ordinal
		}
		return WordMatches{Lists: []WeightedList{{OccurrenceList: OccurrenceList{Body: body}, Weight: weight, Products: len(named)}}}
	}
	found := func(words ...WordMatches) Ordinals {
		m := Match(100, 100, words, nil)
		SortByScore(m.Found, 100, m)
		return m.Found
	}
	common, rare := list(WeightExact, 1, 2, 3, 4, 5, 6), list(WeightExact, 4, 5, 6, 7)
	require.Equal(t, Ordinals{4, 5, 6}, found(common, rare), "three have both")
	require.Equal(t, Ordinals{4, 7, 1, 2, 3, 5, 6}, found(common, list(WeightExact, 4, 7)), "one has both, then those with the rare word")
	require.Empty(t, found(list(WeightExact), list(WeightExact)))
	required := list(WeightExact, 4, 7)
	required.Required = true
	require.Equal(t, Ordinals{4, 7}, found(common, required), "a required word is not missing")
	both := list(WeightPrefix, 3, 8)
	both.Lists = append(both.Lists, list(WeightExact, 8, 9).Lists...)
	require.Equal(t, Ordinals{8, 9, 3}, found(both), "the best way counts")
	dead := list(WeightExact, 1, 2)
	dead.Lists[0].Dead, dead.Lists[0].DeadCount = Posting{Ordinals: Ordinals{1}}.Set(100), 1
	require.Equal(t, Ordinals{2}, found(dead))
	require.Equal(t, 1, dead.Count(5))
	m := Match(100, 100, []WordMatches{common, list(WeightExact, 4)}, list(WeightExact, 9).Lists)
	require.Len(t, m.Found, 6, "9 is in the list, but is not the SKU of a product")
}

func TestCompletions(t *testing.T) {
	t.Parallel()
	names := []string{"Zahnbürste, weich", "Zahnpasta", "Kinderzahnpasta", "Elektrische Zahnbürste"}
	require.Equal(t, []string{"zahnbürste", "zahnpasta"}, Completions("zahn", nil, names, 5))
	require.Equal(t, []string{"weiche zahnbürste"}, Completions("weiche zahnbu", nil, names, 5))
	require.Equal(t, []string{"zahnbürste"}, Completions("zahn", nil, names, 1))
	for _, text := range []string{"zahn ", "", "zahnpasta", "木"} {
		require.Empty(t, Completions(text, nil, names, 5), text)
	}
	require.Equal(t, "weich zahnbürste", Spelled("weich zahnburste", names))
	corrections := Corrections{"wiech": {"weich"}, "zanhbur": {"zahnburste", "zahnpasta"}}
	require.Equal(t, []string{"zahnbürste", "zahnpasta"}, Completions("zanhbür", corrections, names, 5), "words that it may have meant, whole ones too")
	require.Equal(t, []string{"Extra-weich, zahnpasta"}, Completions("Extra-wiech, zahnp", corrections, names, 5), "what is around a mistyped word stays")
	require.Empty(t, Completions("wiech ", corrections, names, 5))
}

func TestSimilarlyNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"moutnain", "Mountain Bikes", true}, {"moutnain bik", "Mountain Bikes", true}, {"moutn", "Mountain Bikes", true}, // a prefix
		{"moutn bikes", "Mountain Bikes", false},                                 // a word before the last is whole
		{"nountain", "Mountain Bikes", true}, {"nikes", "Mountain Bikes", false}, // of a short word the first letter is right
		{"bik", "Mountain Bikes", true}, {"bki", "Mountain Bikes", false}, {"木椅", "木桌", false},
	} {
		search, err := NewSearch(c.text)
		require.NoError(t, err)
		require.Equal(t, c.want, search.SimilarlyNames(c.name), c.text)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"蓝色帽子", "新款蓝色帽子", true}, {"蓝色帽", "蓝色帽子", true}, {"蓝色运动鞋", "蓝色帽子", false}, {"รองเท้า", "รองเท้าวิ่ง", true},
		{"木", "松木桌", true}, {"bike 木桌", "Bikes 松木桌", true}, {"mountain b", "Mountain Bikes", true}, {"mountain x", "Mountain Bikes", false},
	} {
		search, err := NewSearch(c.text)
		require.NoError(t, err)
		require.Equal(t, c.want, search.Names(c.name), c.text)
	}
}

func TestSimilarWordsOfOneLetter(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 18)
	v := UnpackVocabulary(PackVocabulary("en", []string{long}, []uint32{1}))
	similar, compared := v.Similar(long[2:], 2, false, 1)
	require.Equal(t, 1, compared)
	require.Equal(t, []SimilarWord{{long, 2}}, similar, "they share 256 bigrams, counted with repetitions")
}

func TestStems(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{{"en", "hoodies", "hoodie"}, {"de-AT", "hundeleinen", "hundeleine"}, {"fr", "velos", "velo"}, {"nl", "honden", "hond"}} {
		require.Equal(t, Stem(c[0], c[2]), Stem(c[0], c[1]), c)
	}
	require.Equal(t, "hoodies", Stem("th", "hoodies"), "no stemmer")
	require.True(t, isStopWord("de", "mit"))
	require.False(t, isStopWord("th", "the"))
}
