package store

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// NonEmpty returns a text, or nil for an empty one.
func NonEmpty[T ~string](text T) *T { return NonEmptyAt(&text) }

// NonEmptyAt is NonEmpty for a text that stays where it is: it copies nothing.
func NonEmptyAt[T ~string](text *T) *T {
	if *text == "" {
		return nil
	}
	return text
}

// IsStorableText reports whether both databases can store text unchanged.
func IsStorableText(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// Abbreviate truncates text that is quoted in a message to 40 bytes.
func Abbreviate(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}

// ListSome lists the first five ids and counts the others.
func ListSome(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
