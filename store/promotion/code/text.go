package code

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"portico/store"
	"portico/store/authoring"
)

// Limits of codes to create. Codes that were created before the limits existed can still be read,
// redeemed and deleted.
const (
	MaxCodeLength = 64  // characters
	MaxCodeBytes  = 256 // of any stored code
)

// checkCodeText checks a code to create: 1 to MaxCodeLength printable characters, usable as a
// path segment.
func checkCodeText(f *authoring.Validator, member, code string) {
	switch {
	case !store.IsStorableText(code):
		f.Add(member, "must be UTF-8 text without NUL")
	case utf8.RuneCountInString(code) > MaxCodeLength:
		f.Rule(member, "must be at most %d characters, got %d", MaxCodeLength, utf8.RuneCountInString(code))
	case code == "." || code == "..":
		f.Rule(member, "must not be %q: it cannot be a path segment", code)
	case code != strings.TrimSpace(code):
		f.Rule(member, "must not begin or end with a space: %q", store.Abbreviate(code))
	default:
		if at := strings.IndexFunc(code, func(c rune) bool { return !isCodeCharacter(c) }); at >= 0 {
			c, _ := utf8.DecodeRuneInString(code[at:])
			f.Rule(member, "must contain only printable characters other than a slash, got %q in %q", string(c), store.Abbreviate(code))
		}
	}
}

// isCodeCharacter reports whether a code may contain a character: any printable one but the
// slash. Control and bidirectional characters are not printable.
func isCodeCharacter(c rune) bool { return unicode.IsPrint(c) && c != '/' && c != utf8.RuneError }

// IsText reports whether a text could be a stored code.
func IsText(text string) bool { return store.IsStorableText(text) && len(text) <= MaxCodeBytes }
