package rest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"portico/graph/model"
	"portico/store"
	"portico/store/release"
)

// condition is one condition of a filter: operator(attribute,value,…).
type condition struct {
	operator, attribute string
	values              []string
}

// maxFilterBytes limits the length of a filter.
const maxFilterBytes = 64 << 10

// parseFilter reads the filter grammar, decoded from the URL:
//
//	filter    = condition *( ( ":" | "," ) condition ) all must hold; at most 10
//	condition = operator "(" attribute "," value *( "," value ) ")"
//	value     = text without , ( ) " | `"` text with \" and \\ `"`
//
// Spaces and tabs around operators, attributes and separators are ignored, also
// those after a comma. An unquoted value keeps its other spaces, trailing ones
// included, and may contain a colon. A value that begins with a space must be
// quoted. The error is INVALID and names the byte at which parsing stopped.
func parseFilter(text string) ([]condition, error) {
	if len(text) > maxFilterBytes {
		return nil, invalidFilter("has %d bytes, at most %d are allowed", len(text), maxFilterBytes)
	}
	p := &filterParser{text: text}
	var list []condition
	for {
		c, err := p.condition()
		if err != nil {
			return nil, err
		}
		if list = append(list, c); len(list) > store.MaxFilterTerms {
			return nil, invalidFilter("has more than %d conditions", store.MaxFilterTerms)
		}
		p.space()
		if p.done() {
			return list, nil
		}
		if p.text[p.at] == ',' { // some storefronts use a comma
			p.at++
		} else if err := p.expect(':', "between two conditions, or the filter's end"); err != nil {
			return nil, err
		}
	}
}

// filterParser reads a filter from the front.
type filterParser struct {
	text string
	at   int // byte of text that is read next
}

func (p *filterParser) done() bool { return p.at >= len(p.text) }

// space skips spaces and tabs.
func (p *filterParser) space() {
	for !p.done() && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// expect reads the byte c, after spaces. where says in the error where it must be.
func (p *filterParser) expect(c byte, where string) error {
	p.space()
	if p.done() {
		return invalidFilter("ends where %q is expected %s", c, where)
	}
	if p.text[p.at] != c {
		return invalidFilter("has %q at byte %d, where %q is expected %s", p.text[p.at], p.at, c, where)
	}
	p.at++
	return nil
}

// condition reads a condition with at least one value.
func (p *filterParser) condition() (c condition, err error) {
	if c.operator, err = p.word("an operator such as eq or in"); err != nil {
		return c, err
	}
	if err := p.expect('(', "after the operator "+c.operator); err != nil {
		return c, err
	}
	if c.attribute, err = p.word("an attribute such as sku"); err != nil {
		return c, err
	}
	for {
		p.space()
		if !p.done() && p.text[p.at] == ')' && len(c.values) > 0 {
			p.at++
			return c, nil
		}
		if err := p.expect(',', "after "+c.attribute+" or one of its values, or the closing ')'"); err != nil {
			return c, err
		}
		value, err := p.value()
		if err != nil {
			return c, err
		}
		c.values = append(c.values, value)
	}
}

// word reads an operator or an attribute.
func (p *filterParser) word(what string) (string, error) {
	p.space()
	start := p.at
	for !p.done() {
		c := p.text[p.at]
		if c != '_' && c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			break
		}
		p.at++
	}
	if p.at == start {
		return "", invalidFilter("has nothing at byte %d, where %s is expected", start, what)
	}
	return p.text[start:p.at], nil
}

// value reads a value, which is not empty unless it is quoted.
func (p *filterParser) value() (string, error) {
	p.space()
	if !p.done() && p.text[p.at] == '"' {
		return p.quoted()
	}
	start := p.at
	for !p.done() && !strings.ContainsRune(`,()"`, rune(p.text[p.at])) {
		p.at++
	}
	if p.at == start {
		return "", invalidFilter(`has no value at byte %d; write "" for an empty one`, start)
	}
	return p.text[start:p.at], nil
}

// quoted reads a value in quotes. A backslash stands for the byte after it.
func (p *filterParser) quoted() (string, error) {
	start := p.at
	var b strings.Builder
	for p.at++; !p.done(); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return b.String(), nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteByte(p.text[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return "", invalidFilter("has an unclosed quote at byte %d", start)
}

func invalidFilter(format string, args ...any) error {
	return &store.Error{Code: store.Invalid, Path: []string{"filter"}, Detail: fmt.Sprintf(format, args...)}
}

// productFilter parses a filter of products. It returns nil for an empty filter.
func productFilter(text string) (*model.ProductFilter, error) {
	if text == "" {
		return nil, nil
	}
	conditions, err := parseFilter(text)
	if err != nil {
		return nil, err
	}
	filter := &model.ProductFilter{}
	for _, c := range conditions {
		further, err := c.productFilter()
		if err != nil {
			return nil, err
		}
		filter.And = append(filter.And, further)
	}
	return filter, nil
}

// productFilter returns the condition as a filter of products. Bounds are on sort keys, eq and in on attributes.
func (c condition) productFilter() (*model.ProductFilter, error) {
	if c.isRange() {
		bounds := &model.ListBounds{}
		return &model.ProductFilter{Bounds: bounds}, c.addBound(bounds)
	}
	if c.operator != "eq" && c.operator != "in" {
		return nil, invalidFilter("has the unknown operator %q; use one of eq, in, gt, ge, lt, le", c.operator)
	}
	if _, err := release.NewTerm(c.attribute, c.operator, c.values); err != nil {
		return nil, err
	}
	if c.attribute == "id" {
		return &model.ProductFilter{Ids: c.values}, nil
	}
	filter := &model.ProductFilter{}
	filter.SetText(c.attribute, c.textFilter())
	return filter, nil
}

// textFilter returns a checked condition on a text.
func (c condition) textFilter() *model.TextFilter {
	if c.operator == "eq" {
		return &model.TextFilter{Eq: &c.values[0]}
	}
	return &model.TextFilter{In: c.values}
}

// nodeFilter parses a filter of nodes. It returns nil for an empty filter.
func nodeFilter(text string) (*model.CatalogNodeFilter, error) {
	if text == "" {
		return nil, nil
	}
	conditions, err := parseFilter(text)
	if err != nil {
		return nil, err
	}
	filter, bounds := &model.CatalogNodeFilter{}, &model.ListBounds{}
	for _, c := range conditions {
		if c.isRange() {
			filter.Bounds = bounds
			if err := c.addBound(bounds); err != nil {
				return nil, err
			}
			continue
		}
		if _, err := release.NewNodeTerm(c.attribute, c.operator, c.values); err != nil {
			return nil, err
		}
		twice := false
		switch c.attribute {
		case "id":
			twice, filter.Ids = filter.Ids != nil, c.values
		case "name":
			twice, filter.Name = filter.Name != nil, c.textFilter()
		case "slug":
			twice, filter.Slug = filter.Slug != nil, c.textFilter()
		}
		if twice {
			return nil, invalidFilter("has two conditions on %s; this list supports one", c.attribute)
		}
	}
	return filter, nil
}

// isRange reports whether the condition is a bound, by its operator.
func (c condition) isRange() bool {
	return slices.Contains([]string{"gt", "ge", "lt", "le"}, c.operator)
}

// addBound adds the condition to bounds.
func (c condition) addBound(bounds *model.ListBounds) error {
	if len(c.values) != 1 {
		return invalidFilter("has %s(%s,…) with %d values; use one", c.operator, c.attribute, len(c.values))
	}
	r, err := store.NewRange(c.attribute, c.operator, strings.TrimSpace(c.values[0])) // ids and times have no spaces
	if err != nil {
		return err
	}
	if !bounds.Add(r) {
		return invalidFilter("has %s(%s,…) twice", c.operator, c.attribute)
	}
	return nil
}

// addIntBound adds the condition to bounds on a number.
func (c condition) addIntBound(bounds *model.IntBounds) error {
	if len(c.values) != 1 {
		return invalidFilter("has %s(%s,…) with %d values; use one", c.operator, c.attribute, len(c.values))
	}
	number, err := strconv.ParseInt(strings.TrimSpace(c.values[0]), 10, 32)
	if err != nil {
		return invalidFilter("compares %s with %q, which is not a whole number of at most 32 bits", c.attribute, store.Abbreviate(c.values[0]))
	}
	if !bounds.Add(c.operator, int(number)) {
		return invalidFilter("has %s(%s,…) twice", c.operator, c.attribute)
	}
	return nil
}

// listBounds parses a filter of a list that supports only bounds on sort keys. It
// returns nil for an empty filter.
func listBounds(text string) (*model.ListBounds, error) {
	if text == "" {
		return nil, nil
	}
	conditions, err := parseFilter(text)
	if err != nil {
		return nil, err
	}
	return boundsOf(conditions)
}

// boundsOf converts conditions to bounds on sort keys.
func boundsOf(conditions []condition) (*model.ListBounds, error) {
	bounds := &model.ListBounds{}
	for _, c := range conditions {
		if !c.isRange() {
			return nil, invalidFilter("has the operator %q, which this list does not support; use gt, ge, lt or le on id, created_at and updated_at", c.operator)
		}
		if err := c.addBound(bounds); err != nil {
			return nil, err
		}
	}
	return bounds, nil
}
