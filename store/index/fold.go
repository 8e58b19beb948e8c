package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold normalizes case, accents and Unicode forms, so that equivalent texts compare equal.
func Fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	var b strings.Builder
	for _, r := range norm.NFKD.String(text) {
		switch {
		case isAccent(r) || unicode.Is(unicode.Cf, r), r == 'ـ': // invisible: soft hyphens, joiners, stretched strokes
		case extraFolds[r] != "":
			b.WriteString(extraFolds[r])
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return norm.NFC.String(b.String())
}

// isAccent reports whether a mark is ignored in searches. Thai vowels are not, nor the Japanese voicing marks U+3099 and
// U+309A, which make other letters. Marks begin at U+0300.
func isAccent(r rune) bool {
	return r >= 0x0300 && unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Hebrew, unicode.Arabic) &&
		r != 0x3099 && r != 0x309A
}

// extraFolds are letters that Unicode does not decompose.
var extraFolds = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'ς': "σ", 'ı': "i",
	'æ': "ae", 'Æ': "ae", 'œ': "oe", 'Œ': "oe", 'ø': "o", 'Ø': "o", 'đ': "d", 'Đ': "d", 'ł': "l", 'Ł': "l",
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
