package rest

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"portico/graph/model"
	"portico/store"
)

// listParams are a list's parameters as sent.
type listParams struct {
	values        url.Values
	first, offset *int
	after, before *string
	last          *int
	position      int // of the first row, where page[after] or page[before] tells it; else -1
	order         *model.ListOrder
	filter        string
	include       string
}

// parseListParams reads page[limit], page[offset], page[after], page[before],
// sort, filter and include; others are nobody's business. Several filters hold
// together, and several includes add up; of the others each is there once. The
// list can be sorted by id, created_at, updated_at and what further says.
func parseListParams(r *http.Request, further ...store.SortBy) (*listParams, error) {
	return parseListParamsSortedBy(r, slices.Concat([]store.SortBy{store.SortID, store.SortCreatedAt, store.SortUpdatedAt}, further)...)
}

// parseListParamsSortedBy is parseListParams for a list with sort keys of its own.
func parseListParamsSortedBy(r *http.Request, keys ...store.SortBy) (*listParams, error) {
	values, err := parseQuery(r)
	if err != nil {
		return nil, err
	}
	p := &listParams{values: values, include: strings.Join(values["include"], ","), position: -1}
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
	p.order, err = parseSort(values.Get("sort"), keys)
	return p, err
}

// parseQuery reads a query string. INVALID when it is not URL-encoded, and when
// it gives twice what can be there once.
func parseQuery(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(strings.ReplaceAll(r.URL.RawQuery, ";", "%3B")) // a raw ; is no separator
	if err != nil {
		return nil, &store.Error{Code: store.Invalid, Detail: "The query string is not URL-encoded: a % must be followed by two hexadecimal digits."}
	}
	for _, name := range []string{"page[limit]", "page[offset]", "page[after]", "page[before]", "sort", "dry_run"} {
		if n := len(values[name]); n > 1 {
			return nil, invalidParameter(name, "is given %d times; give it once", n)
		}
	}
	return values, nil
}

// joinFilters makes one filter of several, each of which must parse by itself.
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

// integer is a whole number: INVALID when it is none, and UNPROCESSABLE when no
// integer holds it.
func (p *listParams) integer(name, member string) (*int, error) {
	if !p.values.Has(name) {
		return nil, nil
	}
	text := p.values.Get(name)
	n, err := strconv.Atoi(text)
	if strings.HasPrefix(text, "+") {
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

// maxPosition bounds a position that a cursor tells, which no list reaches.
const maxPosition = 1 << 40

// cursor reads an opaque page[after]: a cursor, and the position it stands
// for, so that meta goes on counting.
func (p *listParams) cursor(name string) *string {
	text := p.values.Get(name)
	if text == "" {
		return nil
	}
	key, position, _ := strings.Cut(text, ".")
	if n, err := strconv.Atoi(position); err == nil && n >= 0 && n <= maxPosition {
		p.position = n
	}
	return &key
}

// parseSort reads sort=key or sort=-key.
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
		return nil, invalidParameter("sort", "must be left out, got %q; this list has one order", text)
	}
	return nil, invalidParameter("sort", "must be %s, with a leading - to descend, got %q", joinOr(keys), text)
}

// joinOr joins words: id, created_at or updated_at.
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

// pagination is what meta and links say of a list's page.
type pagination struct {
	limit, offset, rows, total int
	keyed                      bool // by key: sorted, or past the bound of offsets
	info                       model.PageInfo
	params                     *listParams
}

// newPagination gathers it from a connection.
func newPagination[T any](ctx context.Context, p *listParams, c *model.Connection[T]) (*pagination, error) {
	total, err := c.TotalCount(ctx)
	if err != nil {
		return nil, err
	}
	g := &pagination{limit: c.Limit, offset: c.Offset, rows: len(c.Nodes), total: total, info: c.PageInfo, params: p}
	return g.locate(), nil
}

// locate works out where the page stands.
func (g *pagination) locate() *pagination {
	p := g.params
	if g.offset < 0 {
		g.offset = max(0, p.position)
	}
	g.keyed = p.order != nil || p.after != nil || p.before != nil || g.offset+g.limit > store.MaxOffset
	return g
}

func (g *pagination) pages() int { return (g.total + g.limit - 1) / g.limit }

// appendMeta appends "results":{…},"page":{…}.
func (g *pagination) appendMeta(dst []byte) []byte {
	dst = append(dst, `"results":{"total":`...)
	dst = strconv.AppendInt(dst, int64(g.total), 10)
	dst = append(dst, `},"page":{"limit":`...)
	dst = strconv.AppendInt(dst, int64(g.limit), 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, int64(g.offset), 10)
	dst = append(dst, `,"current":`...)
	dst = strconv.AppendInt(dst, int64(g.offset/g.limit+1), 10)
	dst = append(dst, `,"total":`...)
	dst = strconv.AppendInt(dst, int64(g.pages()), 10)
	return append(dst, '}')
}

// The links, each the query string of a page, or empty where there is none.

func (g *pagination) self() string {
	switch {
	case g.params.after != nil:
		return g.at("page[after]", g.params.values.Get("page[after]"))
	case g.params.before != nil:
		return g.at("page[before]", g.params.values.Get("page[before]"))
	}
	return g.atOffset(g.offset)
}

func (g *pagination) first() string { return g.atOffset(0) }

func (g *pagination) last() string { return g.atLast(math.MaxInt) }

// atLast is the page at an offset, or the last page if that begins before. It
// is empty beyond the largest offset.
func (g *pagination) atLast(offset int) string {
	offset = max(0, min(offset, max(0, g.pages()-1)*g.limit))
	if offset > store.MaxOffset {
		return ""
	}
	return g.atOffset(offset)
}

func (g *pagination) prev() string {
	switch {
	case !g.info.HasPreviousPage || g.offset == 0 && !g.keyed:
		return ""
	case g.rows == 0: // past the end there is no row whose cursor leads back
		return g.atLast(g.offset - g.limit)
	case !g.keyed || g.params.order == nil && g.offset <= store.MaxOffset:
		return g.atOffset(max(0, g.offset-g.limit))
	}
	return g.at("page[before]", *g.info.StartCursor()+"."+strconv.Itoa(max(0, g.offset-g.limit)))
}

func (g *pagination) next() string {
	switch {
	case !g.info.HasNextPage || g.rows == 0:
		return ""
	case g.keyed:
		return g.at("page[after]", *g.info.EndCursor()+"."+strconv.Itoa(g.offset+g.rows))
	}
	return g.atOffset(g.offset + g.limit)
}

func (g *pagination) atOffset(offset int) string { return g.at("page[offset]", strconv.Itoa(offset)) }

// at is the query string of a page, with whatever else the list was asked by.
func (g *pagination) at(name, value string) string {
	var b strings.Builder
	b.WriteString("?" + name + "=" + url.QueryEscape(value) + "&page[limit]=" + strconv.Itoa(g.limit))
	for _, kept := range []string{"sort", "filter", "include"} {
		for _, text := range g.params.values[kept] {
			if text != "" {
				b.WriteString("&" + kept + "=" + url.QueryEscape(text))
			}
		}
	}
	return b.String()
}

// appendLinks appends the links of a page outside of /catalog: query strings.
func appendLinks(dst []byte, g *pagination) []byte {
	dst = append(dst, `"links":{`...)
	for i, link := range []struct{ name, query string }{{"current", g.self()}, {"first", g.first()}, {"last", g.last()}, {"prev", g.prev()}, {"next", g.next()}} {
		dst = appendLink(appendComma(dst, i), link.name, "", link.query)
	}
	return append(dst, '}')
}

// writePage answers with a page of resources, each in its shape, outside of
// /catalog.
func writePage[T, R any](w http.ResponseWriter, l *responseBuilder, g *pagination, rows []T, shape func(T) R) error {
	return l.write(w, 0, func(dst []byte) ([]byte, error) {
		dst, err := appendRows(append(dst, `{"data":[`...), l, rows, func(dst []byte, row T) []byte { return appendResource(dst, shape(row)) })
		dst = append(appendLinks(append(dst, "],"...), g), `,"meta":{`...)
		return append(g.appendMeta(dst), "}}"...), err
	})
}

// appendRows appends rows, separated by commas, as far as the limit goes.
func appendRows[T any](dst []byte, l *responseBuilder, rows []T, row func([]byte, T) []byte) ([]byte, error) {
	for i, item := range rows {
		dst = row(appendComma(dst, i), item)
		if err := l.check(dst); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendLink appends "name":"prefix?…", or null.
func appendLink(dst []byte, name, prefix, query string) []byte {
	dst = append(append(append(dst, '"'), name...), `":`...)
	if query == "" {
		return append(dst, "null"...)
	}
	return store.AppendString(dst, prefix+query)
}

// appendCatalogPage appends a page as the paths under /catalog have it; included
// is nil where nothing is.
func appendCatalogPage[T any](dst []byte, l *responseBuilder, rows []T, g *pagination, path string, row func([]byte, T) []byte, included *includedResources) ([]byte, error) {
	dst = append(dst, `{"meta":{`...)
	dst = g.appendMeta(dst)
	dst, err := appendRows(append(dst, `},"data":[`...), l, rows, row)
	if err != nil {
		return dst, err
	}
	dst = append(dst, `],"links":{`...)
	dst = appendLink(dst, "self", path, g.self())
	for _, link := range []struct{ name, query string }{{"first", g.first()}, {"last", g.last()}, {"prev", g.prev()}, {"next", g.next()}} {
		dst = appendLink(append(dst, ','), link.name, path, link.query)
	}
	dst = append(dst, '}')
	if included != nil {
		dst, err = included.append(append(dst, `,"included":`...), l)
	}
	return append(dst, '}'), err
}
