package db

import (
	"strings"
	"unicode/utf8"

	"portico/store"
)

// Pattern is what a text is like: the whole of it, or how it begins or ends,
// or what it holds.
type Pattern struct {
	text           string
	before, behind bool // whatever else may stand there
}

// NewPattern reads a pattern: a star at its beginning or end stands for any
// text, none included; \* is a star and \\ a backslash anywhere. INVALID for
// another star, and for text that is not UTF-8 without NUL.
func NewPattern(attribute, written string) (p Pattern, err error) {
	if !store.CleanText(written) {
		return p, store.Invalidf([]string{"filter"}, "compares %s with text that is not UTF-8 without NUL", attribute)
	}
	written, p.before = strings.CutPrefix(written, "*")
	var b strings.Builder
	for i := 0; i < len(written); i++ {
		switch c := written[i]; {
		case c == '\\' && i+1 < len(written) && (written[i+1] == '*' || written[i+1] == '\\'):
			i++
			b.WriteByte(written[i])
		case c == '*' && i == len(written)-1:
			p.behind = true
		case c == '*':
			return p, store.Invalidf([]string{"filter"}, `compares %s with the pattern %q; a star stands at its beginning or end, and \* is a star itself`, attribute, store.Short(written))
		default:
			b.WriteByte(c)
		}
	}
	p.text = b.String()
	return p, nil
}

// Within keeps the rows of which a column is like the pattern.
func (p Pattern) Within(column string) []Within {
	n := utf8.RuneCountInString(p.text)
	switch {
	case !p.before && !p.behind:
		return []Within{{Clause: column + " = CAST(? AS TEXT)", Values: []any{p.text}}}
	case p.text == "":
		return nil
	case !p.before:
		return []Within{{Clause: "SUBSTR(" + column + ", 1, CAST(? AS INTEGER)) = CAST(? AS TEXT)", Values: []any{n, p.text}}}
	case !p.behind: // on SQLite a place before the first counts from the end
		return []Within{{Clause: "LENGTH(" + column + ") >= CAST(? AS INTEGER) AND SUBSTR(" + column + ", LENGTH(" + column + ") - CAST(? AS INTEGER) + 1) = CAST(? AS TEXT)", Values: []any{n, n, p.text}}}
	}
	return []Within{{Clause: "REPLACE(" + column + ", CAST(? AS TEXT), '') <> " + column, Values: []any{p.text}}}
}
