package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Bounds of lists: those of the interface, and what ends a list that has no end.
const (
	pageLength = 100
	maxOffset  = 10000 // servers refuse larger ones
	maxRows    = 1000  // of one page; servers may not page short lists
	maxPages   = 50000 // of one list
)

// resourceList is a list of the server.
type resourceList struct {
	path               string
	params             string // further parameters, encoded
	language, currency string
}

// position is the next page of a list, with what was read before it.
type position struct {
	Query  string `json:"query"`
	Sorted bool   `json:"sorted,omitempty"` // by id, with a filter instead of an offset
	Pages  int    `json:"pages,omitempty"`  // read so far
	Rows   int    `json:"rows,omitempty"`   // read so far from the start of the list on, without those of sorted pages, which repeat them
	Total  int    `json:"total,omitempty"`  // rows of the list, as the server counts them; 0 if it does not
}

// page is a page of a list: what the server sent, and what read adds.
type page struct {
	Data     []json.RawMessage `json:"data"`
	Included struct {
		MainImages []json.RawMessage `json:"main_images"`
		Files      []json.RawMessage `json:"files"`
	} `json:"included"`
	Links struct {
		Next *string `json:"next"`
	} `json:"links"`
	Meta struct {
		Results struct {
			Total int `json:"total"`
		} `json:"results"`
	} `json:"meta"`

	next  *position // nil after the last page
	cut   bool      // there are more rows, but no way to them
	left  int       // how many, at least 1; 0 unless cut
	total int       // as position.Total
}

// first returns the position of the first page.
func (l resourceList) first() *position {
	return &position{Query: l.query("page[limit]=" + strconv.Itoa(pageLength) + "&page[offset]=0")}
}

// query returns parameters of a page with those of the list.
func (l resourceList) query(params string) string {
	if l.params != "" {
		params += "&" + l.params
	}
	return params
}

// sortedAfter returns the position after the row with an id in the list sorted by id, its first page for no id. The interface
// limits offsets, but not the rows that can be read like this.
func (l resourceList) sortedAfter(id string, at *position) *position {
	params := "page[limit]=" + strconv.Itoa(pageLength) + "&page[offset]=0&sort=id"
	if id != "" {
		params += "&filter=" + url.QueryEscape("gt(id,"+quote(id)+")")
	}
	return &position{Query: l.query(params), Sorted: true, Pages: at.Pages, Rows: at.Rows, Total: at.Total}
}

// quote quotes the value of a filter, if it must be.
func quote(value string) string {
	if !strings.ContainsAny(value, ` ,()"\:`) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// walk reads a list from a position on, and calls do for each page. If a cursor expires (410), it reads the list from its start
// again, so do must skip the rows that it has. It fails if a cursor expires again before more rows were read.
func (c *apiClient) walk(ctx context.Context, l resourceList, at *position, do func(*page) error) error {
	expired := 0 // rows that had been read when a cursor last expired
	for at != nil {
		p, err := c.read(ctx, l, *at)
		if status(err) == http.StatusGone && at.Rows > expired {
			expired = at.Rows
			at = &position{Query: l.first().Query, Pages: at.Pages, Total: at.Total}
			continue
		}
		if err != nil {
			return err
		}
		if err := do(p); err != nil {
			return err
		}
		at = p.next
	}
	return nil
}

// read reads the page at a position, and finds out where the next one is.
func (c *apiClient) read(ctx context.Context, l resourceList, at position) (*page, error) {
	p := &page{}
	r := request{path: l.path, query: at.Query, language: l.language, currency: l.currency}
	at.Pages++ // from here on, at counts this page too
	if at.Pages > maxPages {
		return nil, fmt.Errorf("%s: the list has more than %d pages. Is it one of a commerce service?", r, maxPages)
	}
	err := c.do(ctx, r, p)
	if at.Sorted && isUnknown(err) {
		p, err = &page{cut: true}, nil // the server does not sort this list, or not filter it by id
	}
	if err != nil {
		return nil, err
	}
	if len(p.Data) > maxRows {
		return nil, fmt.Errorf("%s: the page has %d rows, more than %d. Is it one of a commerce service?", r, len(p.Data), maxRows)
	}
	at.Total = max(at.Total, p.Meta.Results.Total) // a sorted page counts only the rows of its filter
	if !at.Sorted {
		at.Rows += len(p.Data)
	}
	p.total = at.Total
	if p.next, err = p.following(l, &at); err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	if p.cut {
		p.left = max(1, at.Total-at.Rows)
	}
	return p, nil
}

// following returns the position of the next page; nil for none. It sets cut if the server ignores the filter by id.
//
// An empty page is the last one. The next page of a sorted list follows the last id. Other lists are read by nextQuery until an
// offset exceeds maxOffset: from there on the whole list is read again, sorted by id.
func (p *page) following(l resourceList, at *position) (*position, error) {
	if len(p.Data) == 0 {
		return nil, nil
	}
	if at.Sorted {
		if total := p.Meta.Results.Total; total > 0 && len(p.Data) >= total { // all rows that pass the filter
			return nil, nil
		}
		next := l.sortedAfter(idOf(p.Data[len(p.Data)-1]), at)
		if next.Query == at.Query {
			p.cut = true
			return nil, nil
		}
		return next, nil
	}
	query, err := p.nextQuery(at)
	switch offset, isOffset := offsetOf(query); {
	case err != nil || query == "":
		return nil, err
	case query == at.Query:
		return nil, errors.New("the link to the next page leads to the same page")
	case isOffset && offset > maxOffset && !strings.Contains(query, "page[after]=") && !strings.Contains(query, "page%5Bafter%5D="): // a cursor has no limit
		return l.sortedAfter("", at), nil
	}
	return &position{Query: query, Pages: at.Pages, Rows: at.Rows, Total: at.Total}, nil
}

// nextQuery returns the query of links.next, or of the next offset if there is no such link but more rows; "" for no page. It
// ignores the path and the host of a link, so that no server leads the client elsewhere.
func (p *page) nextQuery(at *position) (string, error) {
	if p.Links.Next != nil && *p.Links.Next != "" {
		link, err := url.Parse(*p.Links.Next)
		if err != nil || link.RawQuery == "" {
			return "", fmt.Errorf("links.next is not a link to a page: %q", abbreviate(*p.Links.Next))
		}
		return link.RawQuery, nil
	}
	offset, isOffset := offsetOf(at.Query)
	if next := offset + len(p.Data); isOffset && next < p.Meta.Results.Total {
		values, err := url.ParseQuery(at.Query)
		values.Set("page[offset]", strconv.Itoa(next))
		return values.Encode(), err
	}
	return "", nil
}

// offsetOf returns the offset of a query; ok is false if it has none.
func offsetOf(query string) (offset int, ok bool) {
	values, err := url.ParseQuery(query)
	if err != nil || !values.Has("page[offset]") {
		return 0, false
	}
	offset, err = strconv.Atoi(values.Get("page[offset]"))
	return offset, err == nil
}

// idOf returns the id of a resource; empty if it has none.
func idOf(resource json.RawMessage) string {
	var row struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(resource, &row) // what does not decode has no id
	return row.ID
}
