package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

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
