package opctx

import (
	"strings"

	"golang.org/x/text/language"
)

// maxLanguages is how many languages of an Accept-Language value count. Further ones are ignored.
const maxLanguages = 32

// acceptLanguage parses an Accept-Language value, or one BCP 47 tag, and returns the preferred tag first. The wildcard * becomes the tag
// mul. It skips entries that do not parse, and stops after maxLanguages others.
func acceptLanguage(value string) []language.Tag {
	if value == "" { // saves an allocation in each request without languages
		return nil
	}
	if strings.Count(value, ",") < maxLanguages { // else only the first of them count
		if tags, _, err := language.ParseAcceptLanguage(value); err == nil {
			return tags
		}
	}
	var good []string
	for entry := range strings.SplitSeq(value, ",") {
		if len(good) == maxLanguages {
			break
		}
		if _, _, err := language.ParseAcceptLanguage(entry); err == nil {
			good = append(good, entry)
		}
	}
	tags, _, err := language.ParseAcceptLanguage(strings.Join(good, ","))
	if err != nil {
		return nil
	}
	return tags
}
