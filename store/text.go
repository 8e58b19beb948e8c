package store

import (
	"strings"
	"unicode/utf8"
)

// IsStorableText reports whether both databases can store text unchanged.
func IsStorableText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// Abbreviate truncates text that is quoted in a message.
func Abbreviate(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}
