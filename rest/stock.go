package rest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"portico/graph/model"
	"portico/store"
	"portico/store/stock"
)

// stocks lists the stock of all products, and leaves the index of stockTime for serveCandidate.
func (a *API) stocks(w http.ResponseWriter, r *http.Request) error {
	p, err := parseListParams(r)
	if err != nil {
		return err
	}
	bounds, available, err := stockFilter(p.filter)
	if err != nil {
		return err
	}
	p.addGraphQLHint(w, r, bounds, "available", available)
	ctx := r.Context()
	stocks, err := a.resolver.StockPage(ctx, bounds, available, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	body := stockBuffers.Get().(*[]byte)
	defer stockBuffers.Put(body)
	var updatedAt int
	*body, updatedAt = appendStocks((*body)[:0], stocks, stockPagination(p, stocks), wantsLocations(r))
	if d, ok := w.(*bufferedResponse); ok {
		d.stockTime = updatedAt
	}
	writeJSON(w, http.StatusOK, *body)
	return nil
}

// stockFilter parses a filter of stock: bounds on sort keys and on available units. Each is nil without one.
func stockFilter(text string) (bounds *model.ListBounds, available *model.IntBounds, err error) {
	if text == "" {
		return nil, nil, nil
	}
	conditions, err := parseFilter(text)
	if err != nil {
		return nil, nil, err
	}
	rest := slices.DeleteFunc(conditions, func(c condition) bool {
		if err != nil || c.attribute != string(store.SortAvailable) || !c.isRange() {
			return false
		}
		if available == nil {
			available = &model.IntBounds{}
		}
		err = c.addIntBound(available)
		return true
	})
	if err == nil && len(rest) > 0 {
		bounds, err = boundsOf(rest)
	}
	return bounds, available, err
}

// stockBuffers are buffers for pages of stock. The longest page has about 40 kB.
var stockBuffers = sync.Pool{New: func() any { return new([]byte) }}

// stockPagination is the pagination of a page of stock. It computes cursors only for
// links that use them.
func stockPagination(p *listParams, stocks *stock.Page) *pagination {
	g := &pagination{limit: stocks.Limit, offset: stocks.Offset, rows: stocks.Len(), total: stocks.Total, params: p,
		info: model.NewPageInfo(stocks.HasNext, stocks.HasPrevious, stocks.Len(), stocks.Cursor)}
	return g.setPosition()
}

const (
	multiLocationHeader = "EP-Inventories-Multi-Location" // "true" selects stock by location
	onlyLocation        = stock.DefaultLocation           // the only location
)

// wantsLocations reports whether the request wants stock by location.
func wantsLocations(r *http.Request) bool {
	return strings.EqualFold(strings.TrimSpace(r.Header.Get(multiLocationHeader)), "true")
}

// stockAppender returns the encoder for stock records: flat, or by location.
func stockAppender(r *http.Request) func([]byte, *stock.Stock) []byte {
	if wantsLocations(r) {
		return appendStockByLocation
	}
	return appendStock
}

// stock returns the stock of a product.
func (a *API) stock(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r, "id", r.PathValue("id"))
	record, err := a.resolver.Query().Stock(r.Context(), r.PathValue("id"))
	if err == nil && record == nil {
		err = &store.Error{Code: store.NotFound, Detail: "There is no stock record for the product " + strconv.Quote(r.PathValue("id")) + "."}
	}
	if err != nil {
		return err
	}
	return writeStock(w, r, http.StatusOK, record)
}

// stocksByID lists the stock of several products in the order of the request, without
// pages. It leaves out unknown products.
func (a *API) stocksByID(w http.ResponseWriter, r *http.Request) error {
	var products []struct {
		ID *string `json:"id"`
	}
	if err := readList(w, r, &products); err != nil {
		return err
	}
	ids := make([]string, len(products))
	for i, product := range products {
		if product.ID == nil {
			return &store.Error{Code: store.Invalid, Path: []string{"data", strconv.Itoa(i), "id"}, Detail: "must be a string, a product id"}
		}
		ids[i] = *product.ID
	}
	addGraphQLHint(w, r, "ids", ids)
	stocks, err := a.resolver.Query().StocksByID(r.Context(), ids)
	if err != nil {
		return err
	}
	dst := append(make([]byte, 0, 64+128*len(stocks)), `{"data":[`...)
	for i, record := range stocks {
		dst = stockAppender(r)(appendComma(dst, i), record.Stock)
	}
	writeJSON(w, http.StatusOK, append(dst, "]}"...))
	return nil
}

// stockBody is a new stock record as clients send it: with quantity, or with available
// in attributes or at the one location.
type stockBody struct {
	ID         string `json:"id"`
	Quantity   *int   `json:"quantity"`
	Attributes struct {
		Available *int                     `json:"available"`
		Locations map[string]stockLocation `json:"locations"`
	} `json:"attributes"`
}

type stockLocation struct {
	Available *int `json:"available"`
}

// quantity returns the available units, and the member that has them: the first that was sent of quantity, attributes.available and
// that of the location. It returns UNPROCESSABLE for another location, and without any.
func (b *stockBody) quantity() (quantity int, member string, err error) {
	for _, location := range slices.Sorted(maps.Keys(b.Attributes.Locations)) {
		if err := checkLocation(location); err != nil {
			return 0, "", err
		}
	}
	for _, given := range []struct {
		quantity *int
		member   string
	}{{b.Quantity, "quantity"}, {b.Attributes.Available, "attributes.available"},
		{b.Attributes.Locations[onlyLocation].Available, "attributes.locations." + onlyLocation + ".available"}} {
		if given.quantity != nil {
			return *given.quantity, given.member, nil
		}
	}
	return 0, "", &store.Error{Code: store.Unprocessable, Path: []string{"quantity"}, Detail: fmt.Sprintf("is required: the available units, 0 to %d", stock.MaxStock)}
}

// checkLocation returns UNPROCESSABLE for a location other than the default one.
func checkLocation(location string) error {
	if location == "" || location == onlyLocation {
		return nil
	}
	return &store.Error{Code: store.Unprocessable, Path: []string{"location"}, Detail: fmt.Sprintf("must be %q or left out, got %q", onlyLocation, location)}
}

// createStock creates the stock record of the product in the path or, if there is none,
// in the body.
func (a *API) createStock(w http.ResponseWriter, r *http.Request) error {
	var b stockBody
	if err := readData(w, r, &b); err != nil {
		return err
	}
	quantity, member, err := b.quantity()
	if err != nil {
		return err
	}
	input := stockCreateInput{ProductID: cmp.Or(r.PathValue("id"), b.ID), Quantity: quantity}
	addGraphQLHint(w, r, "input", input)
	payload, err := a.resolver.Mutation().StockCreate(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err != nil {
		return renameMembers(err, map[string]string{"quantity": member, "product_id": "id"})
	}
	return writeStock(w, r, http.StatusCreated, payload.Stock)
}

// deleteStock deletes the stock record of a product.
func (a *API) deleteStock(w http.ResponseWriter, r *http.Request) error {
	input := stockDeleteInput{ProductID: r.PathValue("id")}
	addGraphQLHint(w, r, "input", input)
	payload, err := a.resolver.Mutation().StockDelete(r.Context(), input)
	if err == nil {
		err = userErrorsToError(payload.UserErrors)
	}
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

func writeStock(w http.ResponseWriter, r *http.Request, status int, record *model.Stock) error {
	writeJSON(w, status, append(stockAppender(r)([]byte(`{"data":`), record.Stock), '}'))
	return nil
}

// appendStocks appends a page of stock from the numbers in memory, without allocating
// for rows. Building structs would make a page of 100 twice as expensive. updatedAt is the
// index of the time of the latest change; 0 if there is none.
func appendStocks(dst []byte, stocks *stock.Page, g *pagination, byLocation bool) (body []byte, updatedAt int) {
	dst = append(dst, `{"data":[`...)
	for i := range stocks.Len() {
		dst = appendComma(dst, i)
		if byLocation {
			row := stocks.Row(i)
			dst = appendStockByLocation(dst, &row)
			continue
		}
		available, allocated := stocks.Units(i)
		dst = appendStockUnits(dst, stocks.ID(i), available, allocated)
	}
	dst = appendLinks(append(dst, "],"...), g)
	dst = appendTimestamps(append(dst, `,"meta":{`...), nonZero(stocks.Created), nonZero(stocks.Updated))
	if !stocks.Updated.IsZero() {
		updatedAt = len(dst) - len(timeFormat+`"}`) // the time is the last member of timestamps
	}
	return append(g.appendMeta(append(dst, ',')), "}}"...), updatedAt
}

func appendStock(dst []byte, s *stock.Stock) []byte {
	return appendStockUnits(dst, s.ProductID, s.Available, s.Allocated)
}

func appendStockUnits(dst []byte, id string, available, allocated int) []byte {
	dst = store.AppendString(append(dst, `{"id":`...), id)
	return append(appendUnits(append(dst, `,"type":"stock",`...), available, allocated), '}')
}

func appendStockByLocation(dst []byte, s *stock.Stock) []byte {
	dst = store.AppendString(append(dst, `{"id":`...), s.ProductID)
	dst = appendUnits(append(dst, `,"type":"stock","attributes":{`...), s.Available, s.Allocated)
	dst = appendUnits(append(dst, `,"locations":{"`+onlyLocation+`":{`...), s.Available, s.Allocated)
	dst = store.AppendString(append(dst, `}}},"meta":{"stock_id":`...), s.ProductID)
	return append(appendTimestamps(append(dst, ','), &s.CreatedAt, &s.UpdatedAt), "}}"...)
}

// appendUnits appends the members total, available and allocated.
func appendUnits(dst []byte, available, allocated int) []byte {
	dst = strconv.AppendInt(append(dst, `"total":`...), int64(available+allocated), 10)
	dst = strconv.AppendInt(append(dst, `,"available":`...), int64(available), 10)
	return strconv.AppendInt(append(dst, `,"allocated":`...), int64(allocated), 10)
}
