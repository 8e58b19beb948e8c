package stock

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"portico/store"
	"portico/store/db"
)

// List lists all stock, of unpublished products too, by default in the order of product
// ids. With a range of available units, the order is that of units, then product ids, and another one is INVALID.
func (s *Service) List(ctx context.Context, query store.ListQuery) (*store.Slice[*Stock], error) {
	query, err := byAvailable(query)
	if err != nil {
		return nil, err
	}
	page, ok, err := s.cachedPage(ctx, query, false)
	if err != nil {
		return nil, err
	}
	if !ok {
		return db.List(ctx, s.db, StockList, query)
	}
	return page.slice(), nil
}

// byAvailable orders a query with a range of available units by them, so that a page reads no other rows.
func byAvailable(query store.ListQuery) (store.ListQuery, error) {
	if slices.ContainsFunc(query.Ranges, func(r store.Range) bool { return r.Attribute == store.SortAvailable }) {
		if query.Sort != (store.Sort{}) {
			return query, store.Invalidf([]string{"order_by"}, "must be left out with available, which orders the list by available units")
		}
		query.Sort.By = store.SortAvailable
	}
	return query, nil
}

// StockList describes the list of stock.
var StockList = db.Listing[*Stock]{
	Name:        "stock",
	Columns:     stockColumns,
	Table:       "stock",
	ID:          "product_id",
	CounterName: "stock",
	Orders:      map[store.SortBy][]string{store.SortAvailable: {"available"}},
	Scan:        scanStock,
	Key: func(s *Stock, sort store.Sort) []any {
		switch sort.By {
		case store.SortAvailable:
			return []any{s.Available, s.ProductID}
		case store.SortCreatedAt:
			return []any{store.Micros(s.CreatedAt), s.ProductID}
		case store.SortUpdatedAt:
			return []any{store.Micros(s.UpdatedAt), s.ProductID}
		}
		return []any{s.ProductID}
	},
}

// Times returns the earliest creation and the latest change of all stock; zero times
// if there is none.
func (s *Service) Times(ctx context.Context) (created, updated time.Time, err error) {
	if s.cache.viewRecorded(ctx, func(cells *stockCells, reads *Reads) {
		reads.recordTimes(cells.created, cells.updated)
		created, updated = cells.times()
	}) {
		return created, updated, nil
	}
	type times struct{ created, updated sql.NullInt64 }
	t, _, err := db.One(ctx, s.db.Reader, func(rows *sql.Rows) (t times, err error) {
		return t, rows.Scan(&t.created, &t.updated)
	}, `SELECT (SELECT MIN(created_at) FROM stock), (SELECT MAX(updated_at) FROM stock)`)
	if t.created.Valid {
		created, updated = store.FromMicros(t.created.Int64), store.FromMicros(t.updated.Int64)
	}
	return created, updated, err
}

// Page is a page of stock with facts about the whole list. From the cache, all are of
// one moment.
type Page struct {
	Limit, Offset    int // as in Slice
	HasNext          bool
	HasPrevious      bool
	Total            int       // rows of the list within the query's ranges
	Created, Updated time.Time // earliest and latest of all stock; zero if there is none

	rows  []stockCell
	ids   string // ids of the rows, concatenated
	query store.ListQuery

	cursors *store.CursorKey
	list    store.ListID // in cursors; zero until needed
}

// Page is List for callers that need all of it, but few cursors.
func (s *Service) Page(ctx context.Context, query store.ListQuery) (*Page, error) {
	query, err := byAvailable(query)
	if err != nil {
		return nil, err
	}
	page, ok, err := s.cachedPage(ctx, query, true)
	if err != nil || ok {
		return page, err
	}
	slice, err := db.List(ctx, s.db, StockList, query)
	if err != nil {
		return nil, err
	}
	page = &Page{Limit: slice.Limit, Offset: slice.Offset, HasNext: slice.HasNext, HasPrevious: slice.HasPrevious, query: query}
	if page.cursors, err = s.db.CursorKey(ctx); err != nil {
		return nil, err
	}
	for _, stock := range slice.Items {
		row := cellOf(stock)
		row.start = uint16(len(page.ids))
		page.rows, page.ids = append(page.rows, row), page.ids+stock.ProductID
	}
	if page.Total, err = slice.Total(ctx); err != nil {
		return nil, err
	}
	page.Created, page.Updated, err = s.Times(ctx)
	return page, err
}

// Len is the number of rows.
func (p *Page) Len() int { return len(p.rows) }

// ID returns the product id of a row.
func (p *Page) ID(row int) string {
	cell := &p.rows[row]
	return p.ids[cell.start : int(cell.start)+int(cell.length)]
}

// Units returns the units of a row.
func (p *Page) Units(row int) (available, allocated int) {
	return int(p.rows[row].available), int(p.rows[row].allocated)
}

// Row returns the record of a row.
func (p *Page) Row(row int) Stock { return p.rows[row].stock(p.ID(row)) }

// Cursor returns the cursor of a row.
func (p *Page) Cursor(row int) string {
	if p.list == (store.ListID{}) {
		p.list = StockList.ListID(p.query)
	}
	stock := p.Row(row)
	return p.cursors.Sign(store.Cursor{List: p.list, Key: StockList.Key(&stock, p.query.Sort)})
}

// slice converts the page.
func (p *Page) slice() *store.Slice[*Stock] {
	p.list = StockList.ListID(p.query) // rows may be read concurrently
	slice := &store.Slice[*Stock]{Items: make([]*Stock, len(p.rows)), Cursor: p.Cursor, Limit: p.Limit, Offset: p.Offset,
		HasNext: p.HasNext, HasPrevious: p.HasPrevious, Total: func(context.Context) (int, error) { return p.Total, nil }}
	stocks := make([]Stock, len(p.rows))
	for i := range stocks {
		stocks[i] = p.Row(i)
		slice.Items[i] = &stocks[i]
	}
	return slice
}

// cachedPage reads a page from the cache; ok is false if the cache has another order or is not usable. Then the caller reads
// the database, and the record of reads says so. times means that the caller needs the times of all stock.
func (s *Service) cachedPage(ctx context.Context, query store.ListQuery, times bool) (page *Page, ok bool, err error) {
	if err := ctx.Err(); err != nil { // as a query would
		return nil, false, err
	}
	if s.cache == nil || query.Sort.By != store.SortDefault && query.Sort.By != store.SortID ||
		slices.ContainsFunc(query.Ranges, func(r store.Range) bool { return r.Attribute != store.SortID }) {
		readsOf(ctx).lose()
		return nil, false, nil
	}
	settings, err := s.db.Settings(ctx)
	if err != nil {
		return nil, false, err
	}
	checked, err := query.Page.Check(settings.PageLength)
	if err != nil {
		return nil, false, err
	}
	for _, r := range query.Ranges {
		if err := r.Check(); err != nil {
			return nil, false, err
		}
	}
	page = &Page{Limit: checked.Limit, Offset: -1, query: query}
	if page.cursors, err = s.db.CursorKey(ctx); err != nil {
		return nil, false, err
	}
	var between map[string]string // ids by "after" and "before"
	for member, text := range query.Page.Cursors {
		if page.list == (store.ListID{}) {
			page.list = StockList.ListID(query)
		}
		c, err := page.cursors.Parse(*text, page.list, member)
		if err != nil {
			return nil, false, err
		}
		if between == nil {
			between = map[string]string{}
		}
		between[member] = c.Key[0].(string)
	}
	ok = s.cache.viewRecorded(ctx, func(cells *stockCells, reads *Reads) {
		if times {
			reads.recordTimes(cells.created, cells.updated)
		}
		page.read(cells, checked, between, reads)
	})
	return page, ok, nil
}

// read copies the rows of a page from the cells. The ranges limit the ranks of the list, the ids of the cursors those of the
// page. A page from the end, or of a descending list, takes the last of these ranks, and the others the first.
func (p *Page) read(cells *stockCells, page store.CheckedPage, between map[string]string, reads *Reads) {
	descending := p.query.Sort.Descending
	first, last := 0, cells.records() // ranks
	for _, r := range p.query.Ranges {
		switch rank := cells.order.rank(cells, r.ID, r.Operator == "gt" || r.Operator == "le"); r.Operator {
		case "gt", "ge":
			first = max(first, rank)
		default:
			last = min(last, rank)
		}
	}
	p.Total = max(0, last-first)
	p.Created, p.Updated = cells.times()
	for member, id := range between {
		if (member == "after") != descending {
			first = max(first, cells.order.rank(cells, id, true))
		} else {
			last = min(last, cells.order.rank(cells, id, false))
		}
	}
	from, to := first+page.Offset, first+page.Offset+page.Limit
	more := to < last
	if descending != page.Backward { // from the end
		from, to = last-page.Offset-page.Limit, last-page.Offset
		more = from > first
	}
	p.rows, p.ids = cells.span(max(from, first), min(to, last), reads)
	if descending {
		slices.Reverse(p.rows)
	}
	p.HasNext, p.HasPrevious = more, page.After != "" || page.Offset > 0
	if page.Backward {
		p.HasNext, p.HasPrevious = page.Before != "", more
	}
	if page.After == "" && page.Before == "" && !page.Backward {
		p.Offset = page.Offset
	}
}
