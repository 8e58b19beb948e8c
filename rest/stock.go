package rest

import (
	"net/http"
	"strconv"
	"time"

	"portico/graph/model"
	"portico/store"
)

// stocks lists the stock of all products (spec: Get stock for all products).
func (a *API) stocks(w http.ResponseWriter, r *http.Request) error {
	p, err := parseParams(r)
	if err != nil {
		return err
	}
	bounds, err := listBounds(p.filter)
	if err != nil {
		return err
	}
	ctx := r.Context()
	stocks, err := a.resolver.Query().Stocks(ctx, bounds, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	page, err := newPage(ctx, p, stocks.Connection)
	if err != nil {
		return err
	}
	times, err := stocks.Timestamps(ctx)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, appendStocks(stocks.Nodes, page, times))
	return nil
}

func appendStocks(stocks []*model.Stock, g *page, times *model.StockTimestamps) []byte {
	dst := make([]byte, 0, 512+128*len(stocks))
	dst = append(dst, `{"data":[`...)
	for i, stock := range stocks {
		dst = appendStock(comma(dst, i), stock.Stock)
	}
	dst = append(dst, `],"links":{`...)
	dst = appendLink(dst, "current", "", g.self())
	for _, link := range []struct{ name, query string }{{"first", g.first()}, {"last", g.last()}, {"prev", g.prev()}, {"next", g.next()}} {
		dst = appendLink(append(dst, ','), link.name, "", link.query)
	}
	dst = append(dst, `},"meta":{"timestamps":{"created_at":`...)
	dst = appendTime(dst, times.CreatedAt)
	dst = append(dst, `,"updated_at":`...)
	dst = append(appendTime(dst, times.UpdatedAt), "},"...)
	return append(g.appendMeta(dst), "}}"...)
}

func appendStock(dst []byte, s *store.Stock) []byte {
	dst = store.AppendString(append(dst, `{"id":`...), s.ProductID)
	dst = append(dst, `,"type":"stock","total":`...)
	dst = strconv.AppendInt(dst, int64(s.Total()), 10)
	dst = append(dst, `,"available":`...)
	dst = strconv.AppendInt(dst, int64(s.Available), 10)
	dst = append(dst, `,"allocated":`...)
	return append(strconv.AppendInt(dst, int64(s.Allocated), 10), '}')
}

// timeFormat is how times are written outside of /catalog, in UTC.
const timeFormat = "2006-01-02T15:04:05.000Z"

// appendTime appends a time with its zone, or null.
func appendTime(dst []byte, t *time.Time) []byte {
	if t == nil {
		return append(dst, "null"...)
	}
	return append(t.UTC().AppendFormat(append(dst, '"'), timeFormat), '"')
}
