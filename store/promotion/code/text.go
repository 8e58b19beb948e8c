package code

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"portico/store"
	"portico/store/authoring"
)

// The bounds of a code's text. Codes of before they were held to them are
// read, used and removed as they are.
const (
	MaxCodeLength = 64  // characters
	MaxBytes      = 256 // of any code there may be
)

// checkCodeText finds what is wrong with a code that is to be made: 1 to
// MaxCodeLength printable characters that a path can name.
func checkCodeText(f *authoring.Validator, member, code string) {
	switch {
	case !store.IsStorableText(code):
		f.Add(member, "must be UTF-8 text without NUL")
	case utf8.RuneCountInString(code) > MaxCodeLength:
		f.Rule(member, "must be at most %d characters, got %d", MaxCodeLength, utf8.RuneCountInString(code))
	case code == "." || code == "..":
		f.Rule(member, "must not be %q, which no path can name", code)
	case code != strings.TrimSpace(code):
		f.Rule(member, "must not begin or end with a space: %q", store.Abbreviate(code))
	default:
		if at := strings.IndexFunc(code, func(c rune) bool { return !inCode(c) }); at >= 0 {
			c, _ := utf8.DecodeRuneInString(code[at:])
			f.Rule(member, "must have printable characters and no slash, not %+q: %q", c, store.Abbreviate(code))
		}
	}
}

// inCode tells whether a character can be part of a code: printable, which
// control and bidi characters are not, and not the slash that parts a path.
func inCode(c rune) bool { return unicode.IsPrint(c) && c != '/' && c != utf8.RuneError }

// isCodeText tells whether a text could be a code's.
func IsText(text string) bool { return store.IsStorableText(text) && len(text) <= MaxBytes }
