package rest_test

import (
	"fmt"
	"net/url"
	"strings"

	"portico/store"
)

// drawnRequest is a list request under construction, for both APIs.
type drawnRequest struct {
	*dice
	coordinate string
	query      url.Values     // REST's parameters
	arguments  []string       // GraphQL's arguments, literals or variables
	declared   []string       // variables of the document
	variables  map[string]any // and their values
	where      string         // the list, order and filter that a cursor belongs to
	orderKind  string         // GraphQL's type of orders
	keys       []string       // what it can be sorted by
}

func (d *dice) list(coordinate string) *drawnRequest {
	return &drawnRequest{dice: d, coordinate: coordinate, query: url.Values{}, variables: map[string]any{}, orderKind: "ListOrder",
		keys: []string{"id", "created_at", "updated_at"}}
}

// argument adds an argument, as a variable or as a literal.
func (l *drawnRequest) argument(name, kind, literal string, value any) {
	if l.chance(50) {
		l.arguments = append(l.arguments, name+": "+literal)
		return
	}
	l.declared = append(l.declared, "$"+name+": "+kind)
	l.arguments = append(l.arguments, name+": $"+name)
	l.variables[name] = value
}

// number adds an integer parameter to both requests.
func (l *drawnRequest) number(parameter, argument string, n int) {
	l.query.Set(parameter, fmt.Sprint(n))
	l.argument(argument, "Int", fmt.Sprint(n), n)
}

// document returns text with the variables in place of the first %s and the arguments in place
// of the second.
func (l *drawnRequest) document(format string) string {
	head, list := "", ""
	if len(l.declared) > 0 {
		head = "query(" + strings.Join(l.declared, ", ") + ")"
	}
	if len(l.arguments) > 0 {
		list = "(" + strings.Join(l.arguments, ", ") + ")"
	}
	return fmt.Sprintf(format, head, list)
}

// address returns the URL, with a random part of the parameters escaped.
func (l *drawnRequest) address(path string) string {
	text := l.query.Encode()
	for _, escaped := range []string{"%5B[", "%5D]", "%28(", "%29)", "%2C,", "%3A:", "%2F/"} {
		if l.chance(50) {
			text = strings.ReplaceAll(text, escaped[:3], escaped[3:])
		}
	}
	if l.chance(20) {
		path += "/"
	}
	if text == "" {
		return path
	}
	return path + "?" + text
}

// pageChoice is a cursor of an earlier response, and the list it belongs to.
type pageChoice struct {
	where, parameter, cursor string // parameter is the cursor as REST's links have it
	repeat                   func(*drawnRequest)
}

// keep stores the cursors of a response for later requests.
func (l *drawnRequest) keep(repeat func(*drawnRequest), places ...pageChoice) {
	for _, p := range places {
		p.where, p.repeat = l.where, repeat
		kept := l.cursors[l.coordinate]
		if len(kept) < 200 {
			l.cursors[l.coordinate] = append(kept, p)
		} else {
			kept[l.IntN(len(kept))] = p
		}
	}
}

// earlierPage draws a cursor, of this list or of another one.
func (l *drawnRequest) earlierPage(here bool) (pageChoice, bool) {
	for range 20 {
		if places := l.cursors[l.coordinate]; len(places) > 0 {
			if p := pick(l.dice, places...); (p.where == l.where) == here {
				return p, true
			}
		}
	}
	return pageChoice{}, false
}

// page draws a page: by number, by cursor, or none.
func (l *drawnRequest) page(resume *pageChoice) {
	limited := func(argument string) {
		if l.chance(75) {
			l.number("page[limit]", argument, pick(l.dice, 1, 2, 3, 5, 10, 25, 99, 100, 1+l.IntN(100)))
		}
	}
	cursor := func(parameter, argument string, p pageChoice) {
		l.query.Set(parameter, pick(l.dice, p.parameter, p.cursor))
		l.argument(argument, "String", fmt.Sprintf("%q", p.cursor), p.cursor)
	}
	switch {
	case resume != nil && l.chance(70):
		cursor("page[after]", "after", *resume)
		limited("first")
	case resume != nil && l.chance(80):
		cursor("page[before]", "before", *resume)
		limited("last")
	case resume != nil:
		other, found := l.earlierPage(true)
		if !found {
			other = *resume
		}
		cursor("page[after]", "after", *resume)
		cursor("page[before]", "before", other)
		limited("first")
	default:
		limited("first")
		if l.chance(50) {
			l.number("page[offset]", "offset", pick(l.dice, 0, 1, 2, 5, 25, 100, 9_999, 10_000, l.IntN(300)))
		}
	}
}

// badPage draws an invalid page.
func (l *drawnRequest) badPage() {
	bad := func(parameter, value, argument string) {
		l.query.Set(parameter, value)
		l.arguments = append(l.arguments, argument)
	}
	switch l.IntN(9) {
	case 0:
		l.number("page[limit]", "first", pick(l.dice, 0, -1, 101, 1_000_000, 2_147_483_647, -2_147_483_648))
	case 1:
		l.number("page[offset]", "offset", pick(l.dice, -1, 10_001, 2_147_483_647))
	case 2:
		bad("page[limit]", pick(l.dice, "abc", "1.5", "1e2", "0x10", " 1"), `first: "abc"`)
	case 3:
		bad("page[offset]", pick(l.dice, "abc", "1.5", ""), `offset: 1.5`)
	case 4:
		bad("page[after]", pick(l.dice, "nonsense", "bm9uc2Vuc2U", "e30", "!"), `after: "nonsense"`)
	case 5:
		bad("page[before]", pick(l.dice, "nonsense", "bm9uc2Vuc2U", "e30"), `before: "nonsense"`)
	case 6:
		bad(pick(l.dice, "page", "page[number]", "page[size]"), "2", `page: 2`)
	case 7:
		bad("sort", pick(l.dice, "colour", "--id", "ID", "updated_at,id", "-"), `orderBy: {field: COLOUR}`)
	default:
		p, found := l.earlierPage(false)
		if !found {
			p = pageChoice{parameter: "e30", cursor: "e30"}
		}
		parameter, argument := "page[after]", "after"
		if l.chance(30) {
			parameter, argument = "page[before]", "before"
		}
		bad(parameter, p.parameter, fmt.Sprintf("%s: %q", argument, p.cursor))
	}
}

// order draws an order, or none.
func (l *drawnRequest) order() {
	if l.chance(50) {
		return
	}
	key, direction := pick(l.dice, l.keys...), pick(l.dice, "ASC", "DESC")
	l.query.Set("sort", map[string]string{"ASC": "", "DESC": "-"}[direction]+key)
	field := strings.ToUpper(key)
	l.argument("orderBy", l.orderKind, fmt.Sprintf("{field: %s, direction: %s}", field, direction),
		map[string]any{"field": field, "direction": direction})
	l.where += " by " + direction + key
}

// bound draws a bound on a sort key: a condition of REST's filter and a member of a GraphQL input.
func (l *drawnRequest) bound() (condition string, key, operator, value string) {
	attribute := pick(l.dice, "id", "created_at", "updated_at")
	operator, value = pick(l.dice, "gt", "ge", "lt", "le"), l.time()
	if attribute == "id" {
		value = l.product()
	}
	key = map[string]string{"id": "id", "created_at": "createdAt", "updated_at": "updatedAt"}[attribute]
	return operator + "(" + attribute + "," + l.quote(value) + ")", key, operator, value
}

// quote returns a filter's value, unquoted where possible.
func (l *drawnRequest) quote(value string) string {
	bare := value != "" && !strings.ContainsAny(value, `,()":|\`) && strings.TrimSpace(value) == value
	if bare && l.chance(70) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// shopper draws the headers on which responses depend.
func (l *drawnRequest) shopper() (headers []string) {
	if l.chance(40) {
		headers = append(headers, "Accept-Language",
			pick(l.dice, "fr", "de", "fr-CA, en;q=0.3", "*", "en-GB", "zh-Hant-TW, pt", "nonsense;;", "pt-BR"))
	}
	if l.chance(40) {
		headers = append(headers, "X-Moltin-Currency", pick(l.dice, "EUR", "USD", "JPY", "eur", "CHF", "XYZ"))
	}
	return headers
}

// catalog draws headers that select another catalog, which may lack the node. The request then
// has no other error.
func (d *dice) catalog() (headers []string) {
	if d.chance(15) {
		headers = append(headers, pick(d, "Store-Channel", "EP-Channel"), pick(d, "mobile", "web", ""))
	}
	if d.chance(15) {
		headers = append(headers, pick(d, "Store-Context-Tag", "EP-Context-Tag"), pick(d, "clearance", "new, clearance", "new", ","))
	}
	return headers
}

// rejectedClient draws a client that may not send the request.
func (d *dice) rejectedClient() parityClient {
	return pick(d, withoutToken, withBadToken, withoutScopes)
}

// unknownNode is an id that no node of the catalog has.
func (d *dice) unknownNode() string {
	return pick(d, "nowhere", "box", "attic", "00000000-0000-4000-8000-000000000000", "a b", "é", "a/b", "\x00", "*", "%",
		strings.Repeat("x", 65),
		store.GlobalID(store.TypeCatalogNode, "nowhere"), store.GlobalID(store.TypeProduct, "anvil"), pick(d, d.known.products...))
}
