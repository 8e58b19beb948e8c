package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ExportOptions say what goes into the file.
type ExportOptions struct {
	WithClients bool // API clients too, with the hashes of their secrets
}

// exportPage is how many rows are read at a time.
const exportPage = 1000

// Export writes every authored resource as NDJSON, all of one moment, in an
// order in which Import finds the same store: import of an export into an
// empty store exports the same again. It returns how many lines it wrote.
func (s *Store) Export(ctx context.Context, to io.Writer, options ExportOptions) (int, error) {
	e := &exporter{out: bufio.NewWriterSize(to, 1<<16)}
	err := s.snapshot(ctx, func(in session) error {
		e.in = in
		steps := []func(context.Context) error{
			e.settings, e.bodies("file", "id"), e.bodies("product", "id"),
			e.bodies("hierarchy", "sequence", "id"), e.nodes,
			e.bodies("pricebook", "sequence", "id"), e.bodies("price", "id"), e.bodies("price_modifier", "sequence", "id"),
			e.bodies("catalog", "sequence", "id"), e.bodies("catalog_rule", "sequence", "id"),
			e.stockTransactions, e.stocks,
			e.promotions, e.codes, e.usages,
			e.bodies("gateway", "slug"),
		}
		if options.WithClients {
			steps = append(steps, e.clients)
		}
		for _, step := range steps {
			if err := step(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return e.lines, err
	}
	return e.lines, e.out.Flush()
}

type exporter struct {
	in    session
	out   *bufio.Writer
	lines int
}

func (e *exporter) line(body []byte) error {
	e.lines++
	if _, err := e.out.Write(body); err != nil {
		return err
	}
	return e.out.WriteByte('\n')
}

// pages reads a table by key, a page at a time. scan returns a row's key with
// the row.
func pages[T any](ctx context.Context, in session, table, columns string, key []string, scan func(*sql.Rows) ([]any, T, error), do func([]T) error) error {
	return pagesOf(ctx, in, table, nil, columns, key, scan, do)
}

// pagesOf is pages of the rows that conditions keep. They must leave the order
// to an index, or every page costs as much as all of them.
func pagesOf[T any](ctx context.Context, in session, table string, kept []within, columns string, key []string, scan func(*sql.Rows) ([]any, T, error), do func([]T) error) error {
	type keyed struct {
		key  []any
		item T
	}
	text := fmt.Sprintf("SELECT %s FROM %s", columns, table)
	order := fmt.Sprintf(" ORDER BY %s LIMIT %d", strings.Join(key, ", "), exportPage)
	where, values := listing[T]{within: kept}.where(nil)
	var last []any
	for {
		conditions, args := slices.Clone(where), values
		if last != nil {
			var clause string
			clause, args = beyond(key, last, true, slices.Clone(values))
			conditions = append(conditions, clause)
		}
		query := text + order
		if len(conditions) > 0 {
			query = text + " WHERE " + strings.Join(conditions, " AND ") + order
		}
		rows, err := collect(ctx, in, func(rows *sql.Rows) (k keyed, err error) {
			k.key, k.item, err = scan(rows)
			return k, err
		}, query, args...)
		if err != nil {
			return err
		}
		items := make([]T, len(rows))
		for i, row := range rows {
			items[i], last = row.item, row.key
		}
		if err := do(items); err != nil {
			return err
		}
		giveWay(ctx)
		if len(rows) < exportPage {
			return nil
		}
	}
}

// keyedBody scans a body that follows its key columns.
func keyedBody(columns int) func(*sql.Rows) ([]any, []byte, error) {
	return func(rows *sql.Rows) ([]any, []byte, error) {
		var body []byte
		key, places := make([]any, columns), make([]any, columns)
		for i := range key {
			places[i] = &key[i]
		}
		err := rows.Scan(append(places, &body)...)
		for i := range key {
			if text, ok := key[i].([]byte); ok {
				key[i] = string(text)
			}
		}
		return key, body, err
	}
}

// bodies exports a table that keeps its resources whole.
func (e *exporter) bodies(table string, key ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return pages(ctx, e.in, table, strings.Join(key, ", ")+", body", key, keyedBody(len(key)), func(bodies [][]byte) error {
			for _, body := range bodies {
				if err := e.line(body); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// nodes exports nodes with what is attached to them.
func (e *exporter) nodes(ctx context.Context) error {
	key := []string{"sequence", "id"}
	return pages(ctx, e.in, "node", "sequence, id, body", key, keyedBody(2), func(bodies [][]byte) error {
		for _, body := range bodies {
			var node nodeSource
			if err := json.Unmarshal(body, &node); err != nil {
				return err
			}
			ids, err := collect(ctx, e.in, scalar[string],
				`SELECT product_id FROM node_product WHERE node_id = $1 ORDER BY attached, product_id`, node.ID)
			if err != nil {
				return err
			}
			if len(ids) > 0 {
				node.Relationships.Products = &linksSource{}
				for _, id := range ids {
					node.Relationships.Products.Data = append(node.Relationships.Products.Data, refSource{"product", id})
				}
			}
			if err := e.line(encode(&node)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *exporter) stocks(ctx context.Context) error {
	scan := func(rows *sql.Rows) ([]any, *Stock, error) {
		stock, err := scanStock(rows)
		return []any{stock.ProductID}, stock, err
	}
	return pages(ctx, e.in, "stock", stockColumns, []string{"product_id"}, scan, func(stocks []*Stock) error {
		for _, s := range stocks {
			if err := e.line(encode(stockSource{Type: "stock", ID: s.ProductID, Available: s.Available, Allocated: s.Allocated,
				Total: s.Total(), CreatedAt: formatTime(s.CreatedAt), UpdatedAt: formatTime(s.UpdatedAt)})); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *exporter) stockTransactions(ctx context.Context) error {
	scan := func(rows *sql.Rows) ([]any, *StockTransaction, error) {
		line, err := scanStockTransaction(rows)
		return []any{micros(line.CreatedAt), line.ID}, line, err
	}
	return pages(ctx, e.in, "stock_transaction", stockTransactionColumns, []string{"created_at", "id"}, scan, func(lines []*StockTransaction) error {
		for _, l := range lines {
			r := stockTransactionSource{Type: "stock_transaction", ID: l.ID, ProductID: l.ProductID, Action: string(l.Action),
				Quantity: l.Quantity, Reason: l.Reason, Reference: l.Reference, Actor: string(l.Actor), CreatedAt: formatTime(l.CreatedAt)}
			_, usual := (&StockChange{Action: l.Action, Quantity: l.Quantity}).deltas(0)
			r.Allocated = l.AllocatedDelta - usual
			if err := e.line(encode(r)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *exporter) settings(ctx context.Context) error {
	settings, err := readSettings(ctx, e.in)
	if err != nil {
		return err
	}
	return e.line(encode(settingsSource{Type: "settings", PageLength: settings.PageLength, Currency: settings.Currency, Locale: settings.Locale}))
}

func (e *exporter) clients(ctx context.Context) error {
	lines, err := collect(ctx, e.in, func(rows *sql.Rows) (*clientSource, error) {
		c := &clientSource{Type: "api_client"}
		var scopes string
		var created, revoked int64
		err := rows.Scan(&c.ID, &c.Name, &c.SecretHash, &scopes, &created, &revoked)
		c.Scopes, c.CreatedAt = strings.Fields(scopes), formatTime(fromMicros(created))
		if revoked > 0 {
			c.RevokedAt = formatTime(fromMicros(revoked))
		}
		return c, err
	}, `SELECT id, name, secret_hash, scopes, created_at, revoked_at FROM api_client ORDER BY id`)
	for _, line := range lines {
		if err := e.line(encode(line)); err != nil {
			return err
		}
	}
	return err
}
