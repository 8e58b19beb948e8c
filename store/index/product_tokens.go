package index

import (
	"cmp"
	"math"
	"slices"
)

// ProductTokens are the distinct tokens of a product in one language.
type ProductTokens struct {
	Language string // empty for the base text
	Tokens   map[string]Occurrence

	Letters, Stems string // NameKeys of the name
}

// wordBytes is the length of a word with its space by which its number in a text is guessed.
const wordBytes = 5

// NewProductTokens returns the tokens of a product's texts in one language. For the base text language is empty, and locale
// is its language. sku is empty except for the base text.
func NewProductTokens(language, locale, name, description, sku string) ProductTokens {
	t := ProductTokens{Language: language, Tokens: make(map[string]Occurrence, 32)}
	t.Letters, t.Stems = NameKeys(language, cmp.Or(language, locale), name)
	words := slices.AppendSeq(make([]textWord, 0, (len(name)+len(sku)+len(description))/wordBytes), splitWords(name))
	named := Occurrence{Named: true, NameWords: uint8(max(1, min(len(words), maxNameWords)))}
	t.add(words, named, nameRoles(name, cmp.Or(language, locale), words))
	words = slices.AppendSeq(words[:0], splitWords(sku))
	t.add(words, Occurrence{Named: true, InSKU: true}, nil)
	if whole := joined(words); whole != "" {
		t.put(whole, Occurrence{Named: true, InSKU: true, WholeSKU: true})
	}
	words = slices.AppendSeq(words[:0], splitWords(description))
	t.add(words, Occurrence{Texts: 1, TextWords: uint16(min(len(words), math.MaxUint16))}, nil)
	return t
}

// add adds the tokens of words, with an occurrence that is the same but for role and position. Words connected by a hyphen or
// the like are also added as one, at the place of the last one: T-Shirt as tshirt, Reese's as reeses. Of more than two
// connected words each pair is added, and all of at most eight. roles are those of the words of a name; nil for other texts.
func (t ProductTokens) add(words []textWord, o Occurrence, roles []Role) {
	for i, word := range words {
		if roles != nil {
			if o.Role, o.Position = roles[i], 0; i < maxNameWords {
				o.Position = uint8(i + 1)
			}
		}
		word.eachToken(func(token string) bool {
			t.put(token, o)
			return true
		})
		if !word.connected || word.unspaced || words[i-1].unspaced {
			continue
		}
		t.put(joined(words[i-1:i+1]), o)
		first := i - 1
		for first > 0 && words[first].connected && !words[first-1].unspaced {
			first--
		}
		if isLast := i+1 == len(words) || !words[i+1].connected; isLast && first < i-1 && i-first < 8 {
			t.put(joined(words[first:i+1]), o)
		}
	}
}

// put adds an occurrence of a token. Of a name and SKU, what was added before counts, but RoleHead before other roles.
func (t ProductTokens) put(token string, o Occurrence) {
	was, found := t.Tokens[token]
	switch {
	case !found || o.Role == RoleHead && was.Named && was.Role != RoleHead && !was.InSKU:
		was = o
	case o.Texts > 0:
		was.Texts, was.TextWords = min(was.Texts+1, maxTexts), o.TextWords
	}
	was.WholeSKU = was.WholeSKU || o.WholeSKU
	t.Tokens[token] = was
}
