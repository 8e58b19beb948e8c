package catalog

import (
	"regexp"
	"strings"
	"unicode"

	"portico/store"
	"portico/store/authoring"
)

// shortened is a number as spreadsheets write long ones.
var shortened = regexp.MustCompile(`^[0-9]([.,][0-9]+)?[eE]\+[0-9]+$`)

// warnOfKey warns of a text that names something, such as a SKU, with characters that nobody sees, or that a
// spreadsheet has changed.
func warnOfKey(f *authoring.Validator, member, text string) {
	if at := strings.IndexFunc(text, hidden); at >= 0 {
		f.Warn(member, "has the hidden character %+q; remove it, got %q", []rune(text[at:])[0], store.Abbreviate(text))
	} else if strings.TrimSpace(text) != text {
		f.Warn(member, "has spaces around it; remove them, got %q", store.Abbreviate(text))
	} else if strings.ContainsAny(text, "eE") && shortened.MatchString(text) {
		f.Warn(member, "looks like a number that a spreadsheet has shortened; make the column a text and write it in full, got %q", store.Abbreviate(text))
	}
}

// hidden reports whether a character has no width, or looks like a space and is none.
func hidden(c rune) bool {
	return c != ' ' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || unicode.IsSpace(c))
}

// warnOfSlug warns of a slug that addresses do not have as it is.
func warnOfSlug(f *authoring.Validator, member, slug string) {
	if at := strings.IndexFunc(slug, func(c rune) bool { return unicode.IsSpace(c) || hidden(c) || strings.ContainsRune(`/\?#%"<>`, c) }); at >= 0 {
		f.Warn(member, "has %q, which an address cannot have; write it as in blue-mug, got %q", string([]rune(slug[at:])[0]), store.Abbreviate(slug))
	}
}

// markup is an HTML tag or character reference.
var markup = regexp.MustCompile(`</?[a-zA-Z][^<>]*>|&[a-zA-Z]+;|&#[0-9]+;`)

// warnOfMarkup warns of HTML in a name, which pages show as it is.
func warnOfMarkup(f *authoring.Validator, member, name string) {
	if !strings.ContainsAny(name, "<&") {
		return
	}
	if found := markup.FindString(name); found != "" {
		f.Warn(member, "has the HTML %q, which shoppers see as it is; write plain text", store.Abbreviate(found))
	}
}

// warnOfBarcode warns of a UPC or EAN whose last digit does not fit the others.
func warnOfBarcode(f *authoring.Validator, member, code string) {
	warnOfKey(f, member, code)
	if n := len(code); n != 8 && n != 12 && n != 13 && n != 14 || strings.Trim(code, "0123456789") != "" {
		return
	}
	sum := 0
	for i := range code[:len(code)-1] {
		digit := int(code[len(code)-2-i] - '0')
		if i%2 == 0 {
			digit *= 3
		}
		sum += digit
	}
	if check := (10 - sum%10) % 10; int(code[len(code)-1]-'0') != check {
		f.Warn(member, "ends with %c, and the other digits ask for %d; compare it with the package, got %q", code[len(code)-1], check, code)
	}
}
