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

// sourceTable says how a type of source is kept: its columns, the first of
// which is the key and the last the body. Where the second is sequence, it is
// the order of first import.
type sourceTable struct {
	name    string
	columns []string
	keeps   string // a column, beside sequence, that a change leaves as it is
	row     func(source, *tx) []any
}

var (
	fileTable = sourceTable{name: "file", columns: []string{"id", "body"}, row: func(r source, _ *tx) []any {
		return []any{r.key(), encode(r)}
	}}
	productTable = sourceTable{
		name:    "product",
		columns: []string{"id", "live", "parent_id", "component_ids", "created_at", "updated_at", "body"},
		row: func(r source, _ *tx) []any {
			p := r.(*ProductSource)
			return []any{p.ID, p.live(), p.parentID(), strings.Join(p.bundledIDs(), " "), micros(p.createdAt()), micros(p.updatedAt()), encode(p)}
		},
	}
	priceTable = sourceTable{name: "price", columns: []string{"id", "pricebook_id", "sku", "body"}, row: func(r source, _ *tx) []any {
		p := r.(*priceSource)
		return []any{p.ID, p.Relationships.Pricebook.id(), p.Attributes.SKU, encode(p)}
	}}
	gatewayTable   = sourceTable{name: "gateway", columns: []string{"slug", "body"}, row: fileTable.row}
	pricebookTable = sourceTable{name: "pricebook", columns: []string{"id", "sequence", "body"}, row: rowInOrder}
	modifierTable  = sourceTable{name: "price_modifier", columns: pricebookTable.columns, row: rowInOrder}
	hierarchyTable = sourceTable{
		name: "hierarchy", columns: []string{"id", "sequence", "updated_at", "body"},
		row: func(r source, t *tx) []any { return []any{r.key(), nil, micros(t.now), encode(r)} },
	}
	nodeTable = sourceTable{
		name: "node", columns: []string{"id", "sequence", "hierarchy_id", "updated_at", "body"},
		row: func(r source, t *tx) []any {
			n := *r.(*nodeSource)
			n.Relationships.Products = nil // kept in node_product
			return []any{n.ID, nil, n.Relationships.Hierarchy.id(), micros(t.now), encode(&n)}
		},
	}
	catalogTable = sourceTable{
		name: "catalog", columns: []string{"id", "sequence", "created_at", "body"},
		row: func(r source, t *tx) []any {
			return []any{r.key(), nil, createdAt(r.(*catalogSource).Attributes.CreatedAt, t), encode(r)}
		},
	}
	ruleTable = sourceTable{
		name: "catalog_rule", columns: []string{"id", "sequence", "catalog_id", "created_at", "body"},
		row: func(r source, t *tx) []any {
			rule := r.(*ruleSource)
			return []any{rule.ID, nil, rule.Attributes.CatalogID, createdAt(rule.Attributes.CreatedAt, t), encode(rule)}
		},
	}
)

func rowInOrder(r source, _ *tx) []any { return []any{r.key(), nil, encode(r)} }

// createdAt is the time a source gives, else now.
func createdAt(text string, t *tx) int64 {
	if text == "" {
		return micros(t.now)
	}
	return micros(checkedTime(text))
}

// upsert is the statement that writes n rows: new ones, and those whose body
// is different, whose keys it returns. The order of first import and times of
// creation stay.
func (table sourceTable) upsert(n int) string {
	var b strings.Builder
	b.WriteString(insertText(table.name, table.columns, n))
	fmt.Fprintf(&b, " ON CONFLICT (%s) DO UPDATE SET ", table.columns[0])
	var sets []string
	for _, column := range table.columns[1:] {
		if column != "sequence" && column != table.keeps {
			sets = append(sets, column+" = excluded."+column)
		}
	}
	fmt.Fprintf(&b, "%s WHERE %s.body <> excluded.body RETURNING %s", strings.Join(sets, ", "), table.name, table.columns[0])
	return b.String()
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

// products writes products, and which of them speak of which others.
func (w *importWriter) products(ctx context.Context, sources []source) (int, error) {
	rows := make([][]any, len(sources))
	for i, resource := range sources {
		rows[i] = productTable.row(resource, w.tx)
	}
	ids, err := w.upsertRows(ctx, productTable, rows)
	if err != nil {
		return 0, err
	}
	w.touch(productTable.name, ids...)
	slices.Sort(ids)
	var parts [][]any
	for _, resource := range sources {
		p := resource.(*ProductSource)
		if _, written := slices.BinarySearch(ids, p.ID); written {
			for _, component := range p.bundledIDs() {
				parts = append(parts, []any{p.ID, component})
			}
		}
	}
	if err := chunked(ids, 512, func(ids []string) error {
		list, args := in(nil, ids)
		_, err := w.exec(ctx, `DELETE FROM product_component WHERE product_id IN (`+list+`)`, args...)
		return err
	}); err != nil {
		return 0, err
	}
	return len(ids), w.insertRows(ctx, "product_component", []string{"product_id", "component_id"}, parts)
}

// upsertRows writes in blocks of a few sizes, so that few texts are prepared.
// It returns the keys of the rows that were new or different.
func (t *tx) upsertRows(ctx context.Context, table sourceTable, rows [][]any) (changed []string, err error) {
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

// nodes writes nodes and what is attached to them.
func (w *importWriter) nodes(ctx context.Context, sources []source) (changed int, err error) {
	for _, resource := range sources {
		node := resource.(*nodeSource)
		written, err := w.inOrder(ctx, nodeTable, []source{node})
		if err != nil {
			return 0, err
		}
		attached, err := w.attach(ctx, node.ID, node.productIDs())
		if err != nil {
			return 0, err
		}
		if attached || written > 0 {
			changed++
		}
	}
	return changed, nil
}

// attach makes the products the node's, in this order. Attachments that stay
// keep their place in time, unless the order among them is another.
func (w *importWriter) attach(ctx context.Context, nodeID string, productIDs []string) (changed bool, err error) {
	had, err := collect(ctx, w.session, scalar[string],
		`SELECT product_id FROM node_product WHERE node_id = $1 ORDER BY attached, product_id`, nodeID)
	if err != nil || slices.Equal(had, productIDs) {
		return false, err
	}
	wanted := make(map[string]bool, len(productIDs))
	for _, id := range productIDs {
		wanted[id] = true
	}
	var stay, leave []string
	for _, id := range had {
		if wanted[id] {
			stay = append(stay, id)
		} else {
			leave = append(leave, id)
		}
	}
	if len(stay) > len(productIDs) || !slices.Equal(stay, productIDs[:len(stay)]) {
		stay, leave = nil, had
	}
	if err := w.detach(ctx, nodeID, leave); err != nil {
		return false, err
	}
	fresh := productIDs[len(stay):]
	attached, err := w.sequence(ctx, len(fresh))
	if err != nil {
		return false, err
	}
	rows := make([][]any, len(fresh))
	for i, id := range fresh {
		rows[i] = []any{nodeID, attached + int64(i), id}
	}
	w.touch("product", fresh...)
	return true, w.insertRows(ctx, "node_product", []string{"node_id", "attached", "product_id"}, rows)
}

func (w *importWriter) detach(ctx context.Context, nodeID string, productIDs []string) error {
	w.touch("product", productIDs...)
	return chunked(productIDs, 512, func(ids []string) error {
		list, args := in([]any{nodeID}, ids)
		_, err := w.exec(ctx, `DELETE FROM node_product WHERE node_id = $1 AND product_id IN (`+list+`)`, args...)
		return err
	})
}

// insertRows inserts many rows a statement.
func (t *tx) insertRows(ctx context.Context, table string, columns []string, rows [][]any) error {
	return t.insertRowsBut(ctx, table, columns, "", rows)
}

// insertRowsBut inserts with a clause for what to do about rows that are
// there.
func (t *tx) insertRowsBut(ctx context.Context, table string, columns []string, clause string, rows [][]any) error {
	for _, size := range []int{32, 4, 1} {
		text := insertText(table, columns, size) + clause
		for len(rows) >= size {
			if _, err := t.exec(ctx, text, slices.Concat(rows[:size]...)...); err != nil {
				return err
			}
			rows = rows[size:]
		}
	}
	return nil
}

func insertText(table string, columns []string, rows int) string {
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", table, strings.Join(columns, ", "), values(rows, len(columns)))
}

// values are the places of a statement's rows: ($1, $2), ($3, $4).
func values(rows, columns int) string {
	list := make([]string, rows)
	for row := range rows {
		places := make([]string, columns)
		for column := range columns {
			places[column] = "$" + itoa(row*columns+column+1)
		}
		list[row] = "(" + strings.Join(places, ", ") + ")"
	}
	return strings.Join(list, ", ")
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
