package rest_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// pageWalk follows the links of a list and checks every page.
type pageWalk struct {
	s        *testServer
	path     string
	query    modelQuery
	limit    int
	rowsMove bool // a writer changes the list: rows may move and totals change
}

// at returns the URL of the list with an additional parameter.
func (w pageWalk) at(parameter string) string {
	address := w.path + "?" + parameter + "&page[limit]=" + strconv.Itoa(w.limit)
	if w.query.sort != "" {
		address += "&sort=" + w.query.sort
	}
	if len(w.query.filters) > 0 {
		texts := make([]string, len(w.query.filters))
		for i, f := range w.query.filters {
			texts[i] = f.text
		}
		address += "&filter=" + url.QueryEscape(strings.Join(texts, ":"))
	}
	return address
}

// get reads a page.
func (w pageWalk) get(t require.TestingT, address string) *listBody {
	resp := sendRequest(w.s.as(admin()), http.MethodGet, address)
	require.Equal(t, http.StatusOK, resp.Code, "%.300s returns %.300s", address, resp.Body)
	requireJSON(t, address, resp)
	return readListBody(t, resp)
}

// follow reads pages from a URL to the end by the named link.
func (w pageWalk) follow(t require.TestingT, address, link string) (pages []*listBody) {
	for address != "" {
		page := w.get(t, address)
		pages = append(pages, page)
		require.Less(t, len(pages), 20_000, "%s never ends", link)
		address = page.link(link)
	}
	return pages
}

// forwards follows next from the first page to the end. It compares the meta of the pages with
// want, the whole list.
func (w pageWalk) forwards(t require.TestingT, want []string) (pages []*listBody, rows []string) {
	rows = []string{}
	for _, page := range w.follow(t, w.at("page[offset]=0"), "next") {
		if !w.rowsMove {
			w.checkPage(t, page, len(rows), want)
		}
		pages, rows = append(pages, page), append(rows, page.ids()...)
	}
	return pages, rows
}

// backwards follows prev from a page to the start.
func (w pageWalk) backwards(t require.TestingT, last *listBody) (rows []string) {
	pages := []*listBody{last}
	if prev := last.link("prev"); prev != "" {
		pages = append(pages, w.follow(t, prev, "prev")...)
	}
	slices.Reverse(pages)
	rows = []string{}
	for _, page := range pages {
		rows = append(rows, page.ids()...)
	}
	return rows
}

// checkPage compares a page at a position with the whole list: rows, meta and links.
func (w pageWalk) checkPage(t require.TestingT, page *listBody, position int, want []string) {
	total := len(want)
	require.Equal(t, w.rows(want, position), page.ids(), "rows from %d on", position)
	require.Equal(t, total, page.Meta.Results.Total, "meta.results.total")
	require.Equal(t, w.limit, page.Meta.Page.Limit, "meta.page.limit")
	require.Equal(t, position, page.Meta.Page.Offset, "meta.page.offset")
	require.Equal(t, position/w.limit+1, page.Meta.Page.Current, "meta.page.current at %d by %d", position, w.limit)
	require.Equal(t, w.pages(total), page.Meta.Page.Total, "meta.page.total of %d by %d", total, w.limit)
	require.Len(t, page.Links, 5)
	require.Equal(t, position+w.limit >= total, page.Links["next"] == nil, "next of %d by %d of %d: %s", position, w.limit, total,
		page.link("next"))
	require.Equal(t, position == 0, page.Links["prev"] == nil, "prev of %d by %d of %d: %s", position, w.limit, total, page.link("prev"))
	if position <= w.limit || position+w.limit >= total { // pages in the middle are like the second
		w.checkLinks(t, page, want)
	}
}

// checkLinks checks the targets of a page's links except next and prev.
func (w pageWalk) checkLinks(t require.TestingT, page *listBody, want []string) {
	self := "self"
	if !strings.HasPrefix(w.path, "/catalog") {
		self = "current"
	}
	require.Equal(t, page, w.get(t, page.link(self)), "%s describes itself", page.link(self))
	require.Equal(t, w.rows(want, 0), w.get(t, page.link("first")).ids(), "first")
	if last := max(0, w.pages(len(want))-1) * w.limit; last > store.MaxOffset {
		require.Nil(t, page.Links["last"], "last, which begins at %d", last)
	} else {
		require.Equal(t, w.rows(want, last), w.get(t, page.link("last")).ids(), "last")
	}
}

func (w pageWalk) pages(total int) int { return (total + w.limit - 1) / w.limit }

// rows returns the rows of the page at a position.
func (w pageWalk) rows(want []string, position int) []string {
	return append([]string{}, want[min(position, len(want)):min(position+w.limit, len(want))]...)
}
