package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Role is what a word of a name says about the product.
type Role uint8

// The roles. In languages that put the head first, such as French, each word before a RoleAside is a RoleHead.
const (
	RoleOther Role = iota // stands before another noun: Laptop in "Laptop Privacy Filter"
	RoleHead              // the last noun before a number or punctuation: Laptop in "Gaming Laptop 15 inch"
	RoleLater             // as RoleHead, after punctuation: Stand in "Monitor, Stand"
	RoleAside             // after a function word: Laptop in "Filter for Laptop"
	roleCount = 4
)

// asideWords are folded words of any language after which a name says what a product is for, or what comes with it.
// ofWords do so in languages that put the head first.
var asideWords, ofWords, describingWords = wordSet("for with without from by fur fuer mit ohne von pour avec sans para con sin per senza voor met zonder com sem til till med utan uden uten"),
	wordSet("de du des d da do dos das del di della dello dei a au aux"),
	wordSet("black white silver grey gray red blue green yellow orange purple violet pink brown beige gold bronze transparent " +
		"schwarz weiss silber grau rot blau grun gelb braun noir blanc gris rouge bleu vert jaune negro blanco rojo azul verde nero bianco rosso zwart wit grijs rood blauw groen " +
		"inch inches zoll pouces cm mm m ft kg g lb lbs oz l ml w watt v hz gb tb mb pack pcs piece pieces set kit pair mini small medium large")

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// putsHeadFirst reports whether a language says what a thing is before what kind of it.
func putsHeadFirst(locale string) bool {
	switch primaryLanguage(locale) {
	case "fr", "es", "it", "pt", "ro":
		return true
	}
	return false
}

// nameRoles returns the roles of the words of a name; name is empty if its capitals are not known. It knows nouns by what
// they are not: numbers, words such as Black and inch, and abbreviations in capitals.
//
// The first pass goes forward. Words are heads, after punctuation RoleLater, and after a function word RoleAside until the
// next punctuation. A function word that is connected, as in add-on, does not count. The second pass goes backward, and
// makes each word that another noun follows RoleOther. Punctuation, a number or a RoleAside between them ends that.
func nameRoles(name, locale string, words []textWord) []Role {
	list := make([]Role, len(words))
	headFirst, abbreviated := putsHeadFirst(locale), abbreviations(name, len(words))
	aside, head := false, RoleHead
	for i, word := range words {
		if word.breaks && i > 0 {
			aside, head = false, RoleLater
		}
		alone := !word.connected && (i+1 == len(words) || !words[i+1].connected)
		aside = aside || i > 0 && alone && (asideWords[word.text] || headFirst && ofWords[word.text])
		if list[i] = head; aside {
			list[i] = RoleAside
		}
	}
	for i, later := len(words)-1, false; i >= 0 && !headFirst; i-- { // later is whether a noun follows
		word := words[i].text
		switch {
		case list[i] == RoleAside || HasDigit(word):
			later = false
		case later:
			list[i] = RoleOther
		default:
			later = utf8.RuneCountInString(word) > 1 && !describingWords[word] && (abbreviated == nil || !abbreviated[i])
		}
		later = later && !words[i].breaks
	}
	return list
}

// abbreviations reports which words of a name are in capitals; nil if all letters are, so that capitals mean nothing, or if
// the name, split by its characters, has another number of words.
func abbreviations(name string, words int) []bool {
	if strings.ToUpper(name) == name {
		return nil
	}
	fields := strings.FieldsFunc(name, func(r rune) bool { return !isTextPart(r) })
	if len(fields) != words {
		return nil
	}
	list := make([]bool, words)
	for i, field := range fields {
		list[i] = len(field) > 1 && !strings.ContainsFunc(field, unicode.IsLower) && strings.ToUpper(field) == field
	}
	return list
}
