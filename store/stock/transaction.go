package stock

import (
	"database/sql"
	"strings"
	"time"

	"portico/store"
)

// Transaction is a ledger entry. The deltas of a product's entries add up to its
// record.
type Transaction struct {
	ID             string
	ProductID      string
	Action         Action
	Quantity       int
	AvailableDelta int
	AllocatedDelta int
	Reason         string
	Reference      string
	Actor          store.Actor
	CreatedAt      time.Time
	Stock          *Stock // the record after the change; nil when read from the ledger
}

const stockTransactionColumns = `id, product_id, action, quantity, available_delta, allocated_delta, reason, reference, actor, created_at`

func scanStockTransaction(rows *sql.Rows) (*Transaction, error) {
	line := &Transaction{}
	var created int64
	err := rows.Scan(&line.ID, &line.ProductID, &line.Action, &line.Quantity, &line.AvailableDelta, &line.AllocatedDelta,
		&line.Reason, &line.Reference, &line.Actor, &created)
	line.CreatedAt = store.FromMicros(created)
	return line, err
}

var stockTransactionInsert = strings.Split(stockTransactionColumns, ", ")

// values appends the values of stockTransactionColumns.
func (l *Transaction) values(to []any) []any {
	return append(to, l.ID, l.ProductID, string(l.Action), l.Quantity, l.AvailableDelta, l.AllocatedDelta,
		l.Reason, l.Reference, string(l.Actor), store.Micros(l.CreatedAt))
}
