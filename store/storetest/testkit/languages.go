package testkit

import (
	"strings"

	"golang.org/x/text/language"
)

// Languages parses BCP 47 tags, separated by commas, the preferred one first. It panics if one is not valid.
func Languages(list string) (tags []language.Tag) {
	for tag := range strings.FieldsFuncSeq(list, func(c rune) bool { return c == ',' || c == ' ' }) {
		tags = append(tags, language.MustParse(tag))
	}
	return tags
}
