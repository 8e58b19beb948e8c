package index

import (
	"strings"
	"sync"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// stemmers are the Snowball stemmers by primary language subtag.
var stemmers = map[string]func(*snowballstem.Env) bool{
	"da": danish.Stem, "nl": dutch.Stem, "en": english.Stem, "fi": finnish.Stem, "fr": french.Stem, "de": german.Stem,
	"hu": hungarian.Stem, "it": italian.Stem, "nb": norwegian.Stem, "nn": norwegian.Stem, "no": norwegian.Stem,
	"pt": portuguese.Stem, "ro": romanian.Stem, "ru": russian.Stem, "es": spanish.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
}

var stemEnvironments = sync.Pool{New: func() any { return snowballstem.NewEnv("") }}

// primaryLanguage returns the first subtag of a locale, in lower case: de for de-AT.
func primaryLanguage(locale string) string {
	language, _, _ := strings.Cut(strings.ReplaceAll(locale, "_", "-"), "-")
	return strings.ToLower(language)
}

// Stem returns the stem of a folded word in a language; the word itself if there is no stemmer, or if it has fewer than three
// bytes. Vocabularies store stems: a change needs another ReleaseFormat.
func Stem(locale, word string) string {
	stem := stemmers[primaryLanguage(locale)]
	if stem == nil || len(word) < 3 {
		return word
	}
	if last := word[len(word)-1]; primaryLanguage(locale) == "fr" && len(word) >= 5 && (last == 's' || last == 'x') {
		word = word[:len(word)-1] // the stemmer keeps the plural of vélos and couteaux
	}
	env := stemEnvironments.Get().(*snowballstem.Env)
	defer stemEnvironments.Put(env)
	env.SetCurrent(word)
	stem(env)
	return env.Current()
}

// joinsWords reports whether a language writes compounds as one word, such as German Hundefutter.
func joinsWords(locale string) bool {
	switch primaryLanguage(locale) {
	case "de", "nl", "da", "sv", "nb", "nn", "no", "fi", "hu":
		return true
	}
	return false
}

// stopWords are folded words that say little about a product, by primary language subtag.
var stopWords = func() map[string]map[string]bool {
	byLanguage := map[string]map[string]bool{}
	for language, words := range map[string]string{
		"da": "af at den det der de en er et for fra i med og om pa som til",
		"de": "am an auf aus bei das dem den der des die ein eine einem einen einer eines fur im in ins ist mit nach oder und vom von zu zum zur",
		"en": "a an and are as at by for from in is it of on or that the this to with",
		"es": "a al con de del el en es la las lo los o para por que un una unas unos y",
		"fr": "a au aux avec ce ces d dans de des du en et l la le les ou par pour sur un une",
		"it": "a ai al alla con da dal dei del della delle di e ed i il in la le lo o per su un una uno",
		"nb": "av de den det en er et for fra i med og pa som til",
		"nl": "aan bij de den der een en het in is met of om op te tot uit van voor",
		"pt": "a ao as com da das de do dos e em na no nas nos o os ou para por um uma",
		"sv": "av de den det en er ett for fran i med och pa som till",
	} {
		byLanguage[language] = map[string]bool{}
		for word := range strings.FieldsSeq(words) {
			byLanguage[language][word] = true
		}
	}
	byLanguage["no"], byLanguage["nn"] = byLanguage["nb"], byLanguage["nb"] // Norwegian, as in stemmers
	return byLanguage
}()

// isStopWord reports whether a folded word is one of the function words of a language.
func isStopWord(locale, word string) bool { return stopWords[primaryLanguage(locale)][word] }

// NameKey is the same for names whose words have the same stems in a language, without function words, spaces and the s of a
// genitive.
func NameKey(locale, name string) string {
	_, stems := NameKeys("", locale, name)
	return stems[len(stemsMark):]
}

// NameKeys returns the keys by which a release finds products by their whole name: by its letters and digits, and by its NameKey.
// language is empty for the base text, whose language is locale. A change needs another ReleaseFormat.
func NameKeys(language, locale, name string) (letters, stems string) {
	var buffers [2][96]byte // of most names
	all, stemmed := append(append(buffers[0][:0], language...), lettersMark...), append(append(buffers[1][:0], language...), stemsMark...)
	for word := range splitWords(name) {
		all = append(all, word.text...)
		if !isStopWord(locale, word.text) && word.text != "s" {
			stemmed = append(stemmed, Stem(locale, word.text)...)
		}
	}
	return string(all), string(stemmed)
}

// The marks of the two NameKeys, which are no letters.
const lettersMark, stemsMark = "=", "~"
