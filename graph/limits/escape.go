package limits

import (
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// checkEscapes returns an error for a string with an escape that is half a surrogate pair: the parser
// would replace it by U+FFFD. Block strings and comments have no escapes, so it skips them.
func checkEscapes(document string) *gqlerror.Error {
	if !strings.Contains(document, `\u`) {
		return nil
	}
	for at := 0; at < len(document); {
		rest := document[at:]
		switch {
		case rest[0] == '#':
			at += lineEnd(rest)
		case strings.HasPrefix(rest, `"""`):
			at += blockEnd(rest)
		case rest[0] == '"':
			end := stringEnd(rest)
			if broken := store.EscapeProblem(rest[:end]); broken != "" {
				return &gqlerror.Error{
					Message: "A string of the document " + broken + ".",
					Locations: []gqlerror.Location{{
						Line: 1 + strings.Count(document[:at], "\n"), Column: at - strings.LastIndexByte(document[:at], '\n'),
					}},
					Extensions: map[string]any{"code": store.Invalid},
				}
			}
			at += end
		default:
			at++
		}
	}
	return nil
}

// lineEnd returns the length of the line at the start of text.
func lineEnd(text string) int {
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

// stringEnd returns the length of the string at the start of text, which ends with its line at the
// latest.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\r', '\n':
			return i
		}
	}
	return len(text)
}

// blockEnd returns the length of the block string at the start of text.
func blockEnd(text string) int {
	for i := 3; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], `\"""`):
			i += 3
		case strings.HasPrefix(text[i:], `"""`):
			return i + 3
		}
	}
	return len(text)
}
