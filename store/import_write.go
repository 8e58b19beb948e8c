package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// importBatch writes a batch in one transaction and tells how many of its
// resources were new or different.
func (s *Store) importBatch(ctx context.Context, actor Actor, batch []decoded) (changed int, err error) {
	if len(batch) == 0 {
		return 0, nil
	}
	changed, err = s.importAtOnce(ctx, actor, batch, false)
	if errors.Is(err, errOneByOne) { // to find out which of them
		changed, err = s.importAtOnce(ctx, actor, batch, true)
	}
	return changed, err
}

// errOneByOne says that one of the rows of a statement is at fault.
var errOneByOne = errors.New("a row of many is at fault")

func (s *Store) importAtOnce(ctx context.Context, actor Actor, batch []decoded, oneByOne bool) (changed int, err error) {
	err = s.update(ctx, actor, func(ctx context.Context, t *tx) error {
		changed = 0
		w := &importWriter{tx: t, store: s, oneByOne: oneByOne}
		if err := t.bulk(ctx, s.dialect); err != nil {
			return err
		}
		for kind, sources := range byKind(batch) {
			n, err := w.write(ctx, kind, sources)
			if fault := faultOf(batch, err); fault != nil {
				return fault
			}
			if err != nil {
				return fmt.Errorf("write a batch of %s: %w", kind, err)
			}
			changed += n
			w.revised = w.revised || n > 0 && slices.Contains(published, kind)
		}
		return w.announce(ctx)
	})
	return changed, err
}

// faultOf names the line of what only the write could find wrong; nil for any
// other error.
func faultOf(batch []decoded, err error) error {
	var found *sourceFault
	if !errors.As(err, &found) {
		return nil
	}
	var fault *Error
	if !errors.As(found.err, &fault) {
		return nil
	}
	for _, d := range slices.Backward(batch) {
		if d.source == found.source {
			return &ImportFaults{Faults: []ImportFault{{d.line, d.kind, fault}}, Count: 1}
		}
	}
	return nil
}

// byKind yields a batch's sources by type, in a fixed order; of two with one
// id the later counts.
func byKind(batch []decoded) func(func(string, []source) bool) {
	groups := map[string][]source{}
	places := map[[2]string]int{}
	var kinds []string
	for _, d := range batch {
		if _, known := groups[d.kind]; !known {
			kinds = append(kinds, d.kind)
		}
		name := [2]string{d.kind, d.source.key()}
		if place, twice := places[name]; twice {
			groups[d.kind][place] = d.source
			continue
		}
		places[name] = len(groups[d.kind])
		groups[d.kind] = append(groups[d.kind], d.source)
	}
	slices.Sort(kinds) // one order of locks everywhere
	return func(yield func(string, []source) bool) {
		for _, kind := range kinds {
			if !yield(kind, groups[kind]) {
				return
			}
		}
	}
}

// importWriter writes the sources of one transaction.
type importWriter struct {
	*tx
	store   *Store
	topics  []topic
	revised bool // something that catalogs publish
	touched []authoredChange
	stocked []string // products whose stock is another

	oneByOne bool // rows that can only be refused by the database go in a statement each
}

// published are the kinds of resources that a release is made of.
var published = []string{"product", "file", "product-price", "price_modifier", "pricebook", "hierarchy", "node", "catalog"}

func (w *importWriter) announce(ctx context.Context) error {
	if w.revised {
		if err := w.track(ctx); err != nil {
			return err
		}
	}
	for _, name := range unique(w.topics) {
		if err := w.store.changed(ctx, w.tx, name); err != nil {
			return err
		}
	}
	return w.store.tellImported(ctx, w.tx, w.stocked)
}

func (w *importWriter) write(ctx context.Context, kind string, sources []source) (int, error) {
	switch kind {
	case "product":
		return w.products(ctx, sources)
	case "file":
		return w.upsertAll(ctx, fileTable, sources)
	case "product-price":
		return w.prices(ctx, sources)
	case "promotion_code":
		return w.codes(ctx, sources)
	case "code_usage":
		return w.usages(ctx, sources)
	case "gateway":
		return w.upsertAll(ctx, gatewayTable, sources)
	case "hierarchy":
		return w.inOrder(ctx, hierarchyTable, sources)
	case "pricebook":
		return w.inOrder(ctx, pricebookTable, sources)
	case "price_modifier":
		return w.inOrder(ctx, modifierTable, sources)
	case "promotion":
		return w.promotions(ctx, sources)
	case "catalog":
		w.topics = append(w.topics, topicCatalog)
		return w.dated(ctx, catalogTable, sources, func(r source) string { return r.(*catalogSource).Attributes.CreatedAt })
	case "catalog_rule":
		w.topics = append(w.topics, topicCatalog)
		return w.dated(ctx, ruleTable, sources, func(r source) string { return r.(*ruleSource).Attributes.CreatedAt })
	case "node":
		return w.nodes(ctx, sources)
	case "stock":
		return w.stocks(ctx, sources)
	case "stock_transaction":
		return w.stockTransactions(ctx, sources)
	case "api_client":
		w.topics = append(w.topics, topicClients)
		return w.clients(ctx, sources)
	case "settings":
		w.topics = append(w.topics, topicSettings)
		return w.settings(ctx, sources)
	}
	return 0, fmt.Errorf("no table for %s", kind)
}

// upsertAll writes sources, many rows a statement, and tells how many were
// new or different.
func (w *importWriter) upsertAll(ctx context.Context, table sourceTable, sources []source) (changed int, err error) {
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = table.row(resource, w.tx)
	}
	ids, err := w.upsertRows(ctx, table, rows)
	w.touch(table.name, ids...)
	return len(ids), err
}

// upsertRows writes in blocks of a few sizes, so that few texts are prepared.
// It returns the keys of the rows that were new or different.
//
// They go in the order of their keys: neighbours are on one page, and two
// imports at once do not wait for each other in a ring.
func (t *tx) upsertRows(ctx context.Context, table sourceTable, rows [][]any) (changed []string, err error) {
	slices.SortFunc(rows, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
	for _, size := range []int{32, 4, 1} {
		for len(rows) >= size {
			var args []any
			for _, row := range rows[:size] {
				for _, value := range row {
					args = append(args, textual(value))
				}
			}
			keys, err := collect(ctx, t.session, scalar[string], table.upsert(size), args...)
			if err != nil {
				return changed, err
			}
			changed = append(changed, keys...)
			rows = rows[size:]
		}
	}
	return changed, nil
}

// prices writes prices. One that is given another SKU was the old one's too.
func (w *importWriter) prices(ctx context.Context, sources []source) (int, error) {
	skus := make(map[string][]string, len(sources)) // by id of the price
	ids := make([]string, len(sources))
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		ids[i], rows[i] = resource.key(), priceTable.row(resource, w.tx)
		skus[ids[i]] = []string{resource.(*priceSource).Attributes.SKU}
	}
	if err := chunked(ids, 512, func(ids []string) error {
		list, args := in(nil, ids)
		_, err := collect(ctx, w.session, func(rows *sql.Rows) (none struct{}, err error) {
			var id, sku string
			err = rows.Scan(&id, &sku)
			skus[id] = append(skus[id], sku)
			return none, err
		}, `SELECT id, sku FROM price WHERE id IN (`+list+`)`, args...)
		return err
	}); err != nil {
		return 0, err
	}
	changed, err := w.upsertRows(ctx, priceTable, rows)
	for _, id := range changed {
		w.touch(priceTable.name, skus[id]...)
	}
	return len(changed), err
}

// textual keeps JSON as TEXT on both engines.
func textual(value any) any {
	if text, ok := value.([]byte); ok {
		return string(text)
	}
	return value
}

// inOrder writes sources that remember the order of their first import.
func (w *importWriter) inOrder(ctx context.Context, table sourceTable, sources []source) (int, error) {
	sequence, err := w.sequence(ctx, len(sources))
	if err != nil {
		return 0, err
	}
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = table.row(resource, w.tx)
		rows[i][1] = sequence + int64(i)
	}
	ids, err := w.upsertRows(ctx, table, rows)
	w.touch(table.name, ids...)
	return len(ids), err
}

// dated writes sources in order, of which one that does not say when it was
// made keeps the time of its first import.
func (w *importWriter) dated(ctx context.Context, table sourceTable, sources []source, created func(source) string) (changed int, err error) {
	for _, resource := range sources {
		table.keeps = ""
		if created(resource) == "" {
			table.keeps = "created_at"
		}
		n, err := w.inOrder(ctx, table, []source{resource})
		if err != nil {
			return 0, err
		}
		changed += n
	}
	return changed, nil
}

// clients writes API clients; a line without a hash leaves the secret alone,
// and a new client without one cannot log in. One that was revoked stays so.
func (w *importWriter) clients(ctx context.Context, sources []source) (changed int, err error) {
	for _, resource := range sources {
		c := resource.(*clientSource)
		var revoked int64
		if c.RevokedAt != "" {
			revoked = micros(checkedTime(c.RevokedAt))
		}
		n, err := w.exec(ctx, `
			INSERT INTO api_client (id, name, secret_hash, scopes, created_at, revoked_at, changed_by) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (id) DO UPDATE
			SET name = excluded.name, scopes = excluded.scopes, changed_by = excluded.changed_by,
			    secret_hash = CASE WHEN excluded.secret_hash = '' THEN api_client.secret_hash ELSE excluded.secret_hash END,
			    revoked_at = CASE WHEN api_client.revoked_at = 0 THEN excluded.revoked_at ELSE api_client.revoked_at END
			WHERE api_client.name <> excluded.name OR api_client.scopes <> excluded.scopes
			   OR (excluded.secret_hash <> '' AND api_client.secret_hash <> excluded.secret_hash)
			   OR (excluded.revoked_at > 0 AND api_client.revoked_at = 0)`,
			c.ID, c.Name, c.SecretHash, strings.Join(c.Scopes, " "), micros(checkedTime(c.CreatedAt)), revoked, string(w.actor))
		if err != nil {
			return 0, err
		}
		changed += int(n)
	}
	return changed, nil
}

func (w *importWriter) settings(ctx context.Context, sources []source) (int, error) {
	last := sources[len(sources)-1].(*settingsSource)
	n, err := w.exec(ctx, `
		UPDATE settings SET page_length = $1, currency = $2, locale = $3
		WHERE id = 1 AND (page_length <> $1 OR currency <> $2 OR locale <> $3)`,
		last.PageLength, last.Currency, last.Locale)
	return int(n), err
}

// existing tells which ids a table has.
func (w *importWriter) existing(ctx context.Context, table string, ids []string) (map[string]bool, error) {
	known := map[string]bool{}
	err := chunked(ids, 512, func(ids []string) error {
		list, args := in(nil, ids)
		found, err := collect(ctx, w.session, scalar[string],
			`SELECT id FROM `+table+` WHERE id IN (`+list+`)`, args...)
		for _, id := range found {
			known[id] = true
		}
		return err
	})
	return known, err
}
