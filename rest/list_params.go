package rest

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"portico/graph/model"
	"portico/internal/web/problem"
	"portico/store"
)

// listParams are the query parameters of a list.
type listParams struct {
	values        url.Values
	first, offset *int             // page[limit] and page[offset]; nil if absent
	after, before *string          // cursors; nil if absent
	last          *int             // page[limit] of a page before a cursor, in place of first
	position      int              // of the first row of a page with a cursor, as its link says; else 0
	order         *model.ListOrder // nil for the list's own
	filter        string           // empty for none
	include       string           // see checkInclude; empty for none
}

// parseListParams reads page[limit], page[offset], page[after], page[before], sort,
// filter and include. Other parameters of pages are INVALID, further ones are ignored.
// With a cursor the offset only says which position the page is shown with. Only filter and include may be
// repeated. The list can be sorted by id, created_at, updated_at and the further keys.
func parseListParams(r *http.Request, further ...store.SortBy) (*listParams, error) {
	return parseListParamsSortedBy(r, slices.Concat([]store.SortBy{store.SortID, store.SortCreatedAt, store.SortUpdatedAt}, further)...)
}

// parseListParamsSortedBy is parseListParams for a list with other sort keys.
func parseListParamsSortedBy(r *http.Request, keys ...store.SortBy) (*listParams, error) {
	values, err := parseQuery(r)
	if err != nil {
		return nil, err
	}
	p := &listParams{values: values, include: strings.Join(values["include"], ",")}
	if err := checkPageParams(values); err != nil {
		return nil, err
	}
	if p.filter, err = joinFilters(values["filter"]); err != nil {
		return nil, err
	}
	if p.first, err = p.integer("page[limit]", "first"); err != nil {
		return nil, err
	}
	if p.offset, err = p.integer("page[offset]", "offset"); err != nil {
		return nil, err
	}
	p.after, p.before = p.cursor("page[after]"), p.cursor("page[before]")
	if p.before != nil && p.after == nil {
		p.first, p.last = nil, p.first
	}
	if (p.before != nil || p.after != nil) && p.offset != nil {
		p.position, p.offset = max(0, *p.offset), nil
	}
	p.order, err = parseSort(values.Get("sort"), keys)
	return p, err
}

// pageParams are the parameters that choose a page.
var pageParams = []string{"page[limit]", "page[offset]", "page[after]", "page[before]"}

// otherPageParams are parameters of pages in other APIs, in lower case and without _, - and what is in brackets.
var otherPageParams = strings.Fields("page limit offset pagenumber pagesize pagelimit pageoffset pagetoken perpage size " +
	"first last after before cursor startingafter endingbefore start skip take top $skip $top")

// checkPageParams returns INVALID for a parameter of pages that is not known, as page=2 and limit=10 are: a client that sends it
// would get the first page for ever, or a page of another length.
func checkPageParams(values url.Values) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		base, _, _ := strings.Cut(name, "[")
		if slices.Contains(otherPageParams, strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(base))) && !slices.Contains(pageParams, name) {
			const detail = "is not supported; use page[offset] (rows to skip) and page[limit] (rows of a page), or follow links.next"
			if problem.MemberName([]string{name}) != name { // GraphQL has an argument of that name, for which a path stands
				return &store.Error{Code: store.Invalid, Detail: name + " " + detail + "."}
			}
			return invalidParameter(store.Abbreviate(name), detail)
		}
	}
	return nil
}

// parseQuery parses a query string. It returns INVALID if the string is not URL-encoded,
// or repeats a parameter that may occur once.
func parseQuery(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B")) // ; is not a separator
	if err != nil {
		return nil, &store.Error{Code: store.Invalid, Detail: "The query string is not URL-encoded: a % must be followed by two hexadecimal digits."}
	}
	for _, name := range append(pageParams, "sort", "dry_run") {
		if n := len(values[name]); n > 1 {
			return nil, invalidParameter(name, "occurs %d times, once is allowed", n)
		}
	}
	return values, nil
}

// joinFilters joins filters into one. Each must parse by itself.
func joinFilters(filters []string) (string, error) {
	filters = slices.DeleteFunc(slices.Clone(filters), func(text string) bool { return text == "" })
	if len(filters) > 1 {
		for _, text := range filters {
			if _, err := parseFilter(text); err != nil {
				return "", err
			}
		}
	}
	return strings.Join(filters, ":"), nil
}

// integer parses a parameter; nil if it is absent. It returns INVALID for text that is not an integer, and
// UNPROCESSABLE if it does not fit an int. Errors name member.
func (p *listParams) integer(name, member string) (*int, error) {
	if !p.values.Has(name) {
		return nil, nil
	}
	text := p.values.Get(name)
	n, err := strconv.Atoi(text)
	if strings.HasPrefix(text, "+") { // Atoi takes it
		err = strconv.ErrSyntax
	}
	if errors.Is(err, strconv.ErrRange) {
		return nil, store.PageRangeError(member, text)
	}
	if err != nil {
		return nil, invalidParameter(member, "must be a whole number, got %q", text)
	}
	return &n, nil
}

// cursor reads page[after] or page[before]; nil if it is empty.
func (p *listParams) cursor(name string) *string {
	text := p.values.Get(name)
	if text == "" {
		return nil
	}
	return &text
}

// parseSort reads the value of sort: a key, or -key for descending order. It returns nil for an empty text, and INVALID for a key
// that is not among keys.
func parseSort(text string, keys []store.SortBy) (*model.ListOrder, error) {
	if text == "" {
		return nil, nil
	}
	key, descending := strings.CutPrefix(text, "-")
	order := &model.ListOrder{Field: store.SortBy(key), Direction: model.Ascending}
	if descending {
		order.Direction = model.Descending
	}
	switch {
	case slices.Contains(keys, order.Field):
		return order, nil
	case len(keys) == 0:
		return nil, invalidParameter("sort", "must be left out, got %q: this list has a fixed order", text)
	}
	return nil, invalidParameter("sort", "must be %s, with a leading - to sort descending, got %q", joinOr(keys), text)
}

// joinOr joins words: "id, created_at or updated_at".
func joinOr(keys []store.SortBy) string {
	var b strings.Builder
	for i, key := range keys {
		switch {
		case i > 0 && i == len(keys)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(string(key))
	}
	return b.String()
}
