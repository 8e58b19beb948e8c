package rest

import (
	"context"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"portico/graph/model"
	"portico/store"
)

// pagination describes a page: its position, for meta, and its links.
type pagination struct {
	limit, offset, rows, total int // rows of a page at most, position of this one, its rows, rows of the list
	info                       model.PageInfo
	params                     *listParams
}

// newPagination returns the pagination of a connection.
func newPagination[T any](ctx context.Context, p *listParams, c *model.Connection[T]) (*pagination, error) {
	total, err := c.TotalCount(ctx)
	if err != nil {
		return nil, err
	}
	g := &pagination{limit: c.Limit, offset: c.Offset, rows: len(c.Nodes), total: total, info: c.PageInfo, params: p}
	return g.setPosition(), nil
}

// setPosition takes the offset from the link with the cursor if the list does not know it (model.Connection.Offset), and returns g.
func (g *pagination) setPosition() *pagination {
	if g.offset < 0 {
		g.offset = g.params.position
	}
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

// The methods self to next return the query string of a page; empty if there is no such page. Each has the offset of the
// page. Those of the previous and the next page have a cursor too, which decides: the offset is only shown then. So a
// publication, or a row that is created or deleted, between two pages neither hides nor repeats a row.

func (g *pagination) self() string {
	switch {
	case g.params.after != nil:
		return g.pageQuery(g.offset, "page[after]", *g.params.after)
	case g.params.before != nil:
		return g.pageQuery(g.offset, "page[before]", *g.params.before)
	}
	return g.offsetQuery(g.offset)
}

func (g *pagination) first() string { return g.offsetQuery(0) }

func (g *pagination) last() string { return g.offsetOrLastQuery(math.MaxInt) }

// offsetOrLastQuery returns the query of the page at an offset, or of the last page if that begins
// earlier. It is empty beyond the largest offset.
func (g *pagination) offsetOrLastQuery(offset int) string {
	offset = max(0, min(offset, max(0, g.pages()-1)*g.limit))
	if offset > store.MaxOffset {
		return ""
	}
	return g.offsetQuery(offset)
}

func (g *pagination) prev() string {
	switch {
	case !g.info.HasPreviousPage:
		return ""
	case g.rows == 0: // past the end: no row has a cursor
		return g.offsetOrLastQuery(g.offset - g.limit)
	}
	return g.pageQuery(max(0, g.offset-g.limit), "page[before]", *g.info.StartCursor())
}

func (g *pagination) next() string {
	if !g.info.HasNextPage || g.rows == 0 {
		return ""
	}
	return g.pageQuery(g.offset+g.rows, "page[after]", *g.info.EndCursor())
}

func (g *pagination) offsetQuery(offset int) string { return g.pageQuery(offset, "", "") }

// pageQuery returns a query string with an offset, a cursor unless its parameter is empty, and the request's other
// parameters.
func (g *pagination) pageQuery(offset int, parameter, cursor string) string {
	var b strings.Builder
	b.WriteString("?page[offset]=" + strconv.Itoa(offset) + "&page[limit]=" + strconv.Itoa(g.limit))
	if parameter != "" {
		b.WriteString("&" + parameter + "=" + url.QueryEscape(cursor))
	}
	for _, param := range []string{"sort", "filter", "include"} {
		for _, text := range g.params.values[param] {
			if text != "" {
				b.WriteString("&" + param + "=" + url.QueryEscape(text))
			}
		}
	}
	return b.String()
}

// appendLinks appends the links of a page outside /catalog. They are query strings without a path.
func appendLinks(dst []byte, g *pagination) []byte {
	dst = append(dst, `"links":{`...)
	for i, link := range []struct{ name, query string }{{"current", g.self()}, {"first", g.first()}, {"last", g.last()}, {"prev", g.prev()}, {"next", g.next()}} {
		dst = appendLink(appendComma(dst, i), link.name, "", link.query)
	}
	return append(dst, '}')
}

// writePage writes a page of resources outside /catalog. shape converts each row to what is written as JSON.
func writePage[T, R any](w http.ResponseWriter, b *responseBuilder, g *pagination, rows []T, shape func(T) R) error {
	return b.write(w, 0, func(dst []byte) ([]byte, error) {
		dst, err := appendRows(append(dst, `{"data":[`...), b, rows, func(dst []byte, row T) []byte { return appendResource(dst, shape(row)) })
		dst = append(appendLinks(append(dst, "],"...), g), `,"meta":{`...)
		return append(g.appendMeta(dst), "}}"...), err
	})
}

// appendRows appends rows, separated by commas, and checks the size after each.
func appendRows[T any](dst []byte, b *responseBuilder, rows []T, row func([]byte, T) []byte) ([]byte, error) {
	for i, item := range rows {
		dst = row(appendComma(dst, i), item)
		if err := b.check(dst); err != nil {
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

// appendCatalogPage appends a page as under /catalog. row appends each row as JSON, path is that of the links. included may be nil.
func appendCatalogPage[T any](dst []byte, b *responseBuilder, rows []T, g *pagination, path string, row func([]byte, T) []byte, included *includedResources) ([]byte, error) {
	dst = append(dst, `{"meta":{`...)
	dst = g.appendMeta(dst)
	dst, err := appendRows(append(dst, `},"data":[`...), b, rows, row)
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
		dst, err = included.append(append(dst, `,"included":`...), b)
	}
	return append(dst, '}'), err
}
