package rest

import (
	"fmt"
	"net/http"
	"strconv"

	"portico/graph/model"
	"portico/store"
	"portico/store/stock"
)

// stockTransactions lists the stock ledger of a product, newest first.
func (a *API) stockTransactions(w http.ResponseWriter, r *http.Request) error {
	p, err := parseListParamsSortedBy(r, store.SortCreatedAt)
	if err != nil {
		return err
	}
	bounds, err := listBounds(p.filter)
	if err != nil {
		return err
	}
	p.addGraphQLHint(w, r, bounds, "productId", r.PathValue("id"))
	ctx := r.Context()
	entries, err := a.resolver.Query().StockTransactions(ctx, r.PathValue("id"), bounds, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	page, err := newPagination(ctx, p, entries)
	if err != nil {
		return err
	}
	return writePage(w, a.newBuilder(r), page, entries.Nodes, transactionEncoder(r))
}

// stockTransaction returns an entry of the ledger.
func (a *API) stockTransaction(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r, "productId", r.PathValue("id"), "id", r.PathValue("transaction"))
	entry, err := a.resolver.Query().StockTransaction(r.Context(), r.PathValue("id"), r.PathValue("transaction"))
	if err == nil && entry == nil {
		err = &store.Error{Code: store.NotFound, Detail: "There is no stock transaction " + strconv.Quote(r.PathValue("transaction")) + " of the product " + strconv.Quote(r.PathValue("id")) + "."}
	}
	if err != nil {
		return err
	}
	return writeTransaction(w, r, http.StatusOK, entry)
}

// stockTransactionBody is a transaction as clients send it.
type stockTransactionBody struct {
	stockTransactionAttributes
	Attributes *stockTransactionAttributes `json:"attributes"` // instead of the above, for clients that use locations
}

type stockTransactionAttributes struct {
	Type      string       `json:"type"`
	ProductID string       `json:"product_id"`
	Action    stock.Action `json:"action"`
	Quantity  *int         `json:"quantity"`
	Location  string       `json:"location"`
	Reason    string       `json:"reason"`
	Reference string       `json:"reference"`
}

// transactStock changes a product's stock and adds the change to the ledger.
func (a *API) transactStock(w http.ResponseWriter, r *http.Request) error {
	var body stockTransactionBody
	if err := readData(w, r, &body); err != nil {
		return err
	}
	b := body.stockTransactionAttributes
	if body.Attributes != nil {
		b = *body.Attributes
	}
	err := a.transact(w, r, b)
	if err != nil && body.Attributes != nil {
		names := map[string]string{}
		for _, name := range []string{"product_id", "action", "quantity", "location", "reason", "reference"} {
			names[name] = "attributes." + name
		}
		return renameMembers(err, names)
	}
	return err
}

// transact writes the change of the product in the path, which the body may repeat. Errors name members of b.
func (a *API) transact(w http.ResponseWriter, r *http.Request, b stockTransactionAttributes) error {
	id := r.PathValue("id")
	if b.Quantity == nil {
		return &store.Error{Code: store.Unprocessable, Path: []string{"quantity"}, Detail: fmt.Sprintf("is required: units, up to %d", stock.MaxStock)}
	}
	if b.ProductID != "" && store.LocalID(b.ProductID) != store.LocalID(id) {
		return &store.Error{Code: store.Unprocessable, Path: []string{"product_id"}, Detail: "must be " + id + ", as in the path, or left out"}
	}
	if err := checkLocation(b.Location); err != nil {
		return err
	}
	input := stockTransactInput{Changes: []*stock.Change{
		{ProductID: id, Action: b.Action, Quantity: *b.Quantity, Reason: b.Reason, Reference: b.Reference}}}
	addGraphQLHint(w, r, "input", input)
	payload, err := a.resolver.Mutation().StockTransact(r.Context(), input)
	if err == nil {
		err = userErrorsToError(withoutChangeIndex(payload.UserErrors))
	}
	if err != nil {
		return err
	}
	return writeTransaction(w, r, http.StatusCreated, payload.Transactions[0])
}

// withoutChangeIndex removes "changes.0" from the paths of errors, because REST sends a
// single change.
func withoutChangeIndex(list []*model.UserError) []*model.UserError {
	renamed := make([]*model.UserError, len(list))
	for i, e := range list {
		single := *e.Error
		if len(single.Path) > 2 && single.Path[0] == "changes" {
			single.Path = single.Path[2:]
		}
		renamed[i] = &model.UserError{Error: &single}
	}
	return renamed
}

func writeTransaction(w http.ResponseWriter, r *http.Request, status int, entry *model.StockTransaction) error {
	return writeData(w, status, transactionEncoder(r)(entry))
}

// transactionEncoder returns the encoder for ledger entries: flat, or by location.
func transactionEncoder(r *http.Request) func(*model.StockTransaction) any {
	if wantsLocations(r) {
		return func(entry *model.StockTransaction) any {
			return transactionByLocation{entry.ID, transactionType, locatedChange{newStockChange(entry), onlyLocation}, createdMeta{createdAt{store.FormatTime(entry.CreatedAt)}}}
		}
	}
	return func(entry *model.StockTransaction) any {
		return transactionResource{entry.ID, transactionType, newStockChange(entry), createdAt{store.FormatTime(entry.CreatedAt)}}
	}
}

const transactionType = "stock-transaction"

type transactionResource struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	stockChange
	Timestamps createdAt `json:"timestamps"`
}

type transactionByLocation struct {
	ID         string        `json:"id"`
	Type       string        `json:"type"`
	Attributes locatedChange `json:"attributes"`
	Meta       createdMeta   `json:"meta"`
}

type locatedChange struct {
	stockChange
	Location string `json:"location"`
}

type stockChange struct {
	Action    stock.Action `json:"action"`
	ProductID string       `json:"product_id"`
	Reason    string       `json:"reason"`
	Reference string       `json:"reference"`
	Quantity  int          `json:"quantity"`
}

func newStockChange(entry *model.StockTransaction) stockChange {
	return stockChange{entry.Action, entry.ProductID, entry.Reason, entry.Reference, entry.Quantity}
}

type createdMeta struct {
	Timestamps createdAt `json:"timestamps"`
}

type createdAt struct {
	CreatedAt string `json:"created_at"`
}
