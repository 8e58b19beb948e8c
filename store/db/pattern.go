package db

import (
	"strings"
	"unicode/utf8"

	"portico/store"
)

// Pattern matches a text exactly, or by its prefix, suffix or a substring.
type Pattern struct {
	text                 string
	anyPrefix, anySuffix bool // anything may precede or follow
}

// NewPattern parses a pattern: a star at the beginning or end matches any text,
// including none; \* is a star and \\ a backslash. It returns INVALID for another
// star, and for text with NUL or invalid UTF-8.
func NewPattern(attribute, written string) (p Pattern, err error) {
	if !store.IsStorableText(written) {
		return p, store.Invalidf([]string{"filter"}, "compares %s with text that contains NUL or invalid UTF-8", attribute)
	}
	rest, anyPrefix := strings.CutPrefix(written, "*")
	p.anyPrefix = anyPrefix
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\' && i+1 < len(rest) && (rest[i+1] == '*' || rest[i+1] == '\\'):
			i++
			b.WriteByte(rest[i])
		case c == '*' && i == len(rest)-1:
			p.anySuffix = true
		case c == '*':
			return p, store.Invalidf([]string{"filter"}, `compares %s with the pattern %q; a star may be only at its beginning or end; write \* for a literal star`, attribute, store.Abbreviate(written))
		default:
			b.WriteByte(c)
		}
	}
	p.text = b.String()
	return p, nil
}

// Conditions returns the condition that a column matches the pattern; none if the pattern matches every text.
func (p Pattern) Conditions(column string) []Condition {
	n := utf8.RuneCountInString(p.text)
	switch {
	case !p.anyPrefix && !p.anySuffix:
		return []Condition{{Clause: column + " = CAST(? AS TEXT)", Values: []any{p.text}}}
	case p.text == "":
		return nil
	case !p.anyPrefix:
		return []Condition{{Clause: "SUBSTR(" + column + ", 1, CAST(? AS INTEGER)) = CAST(? AS TEXT)", Values: []any{n, p.text}}}
	case !p.anySuffix: // SQLite counts a start below 1 from the end
		return []Condition{{Clause: "LENGTH(" + column + ") >= CAST(? AS INTEGER) AND SUBSTR(" + column + ", LENGTH(" + column + ") - CAST(? AS INTEGER) + 1) = CAST(? AS TEXT)", Values: []any{n, n, p.text}}}
	}
	return Containing(column, []string{p.text})
}
