package catalog

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"portico/store/authoring"
)

// slugOf makes a slug from a name, else from a SKU: letters without accents and digits
// in lower case, joined by hyphens. "" if neither has any.
func slugOf(name, sku string) string {
	for _, text := range []string{name, sku} {
		var slug strings.Builder
		for _, r := range norm.NFD.String(strings.ToLower(text)) {
			switch {
			case unicode.IsLetter(r), unicode.IsNumber(r):
				slug.WriteRune(r)
			case unicode.IsMark(r):
				if slug.Len() > 0 && r >= 0x0E00 { // a vowel sign of Thai or Hindi, for example; an accent goes
					slug.WriteRune(r)
				}
			case r == '\'', r == '’': // men's
			case slug.Len() > 0 && !strings.HasSuffix(slug.String(), "-"):
				slug.WriteByte('-')
			}
		}
		if found := strings.TrimSuffix(slug.String(), "-"); found != "" {
			return norm.NFC.String(strings.ToValidUTF8(found[:min(len(found), authoring.MaxName)], ""))
		}
	}
	return ""
}
