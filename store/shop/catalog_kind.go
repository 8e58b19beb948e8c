package shop

import (
	"context"

	"portico/store"
	"portico/store/db"
)

var catalogKind = kind{
	name: "catalog", create: func() source { return &catalogSource{} },
	write: (*importWriter).catalogs, export: bodies("catalog", "sequence", "id"),
	published: true, referred: true,
}

var ruleKind = kind{
	name: "catalog_rule", create: func() source { return &ruleSource{} },
	write: (*importWriter).rules, export: bodies("catalog_rule", "sequence", "id"),
}

var catalogTable = sourceTable{
	name: "catalog", columns: []string{"id", "sequence", "created_at", "body"},
	row: func(r source, t *db.Tx) []any {
		return []any{r.key(), nil, createdAt(r.(*catalogSource).Attributes.CreatedAt, t), store.Encode(r)}
	},
}

var ruleTable = sourceTable{
	name: "catalog_rule", columns: []string{"id", "sequence", "catalog_id", "created_at", "body"},
	row: func(r source, t *db.Tx) []any {
		rule := r.(*ruleSource)
		return []any{rule.ID, nil, rule.Attributes.CatalogID, createdAt(rule.Attributes.CreatedAt, t), store.Encode(rule)}
	},
}

// dated writes sources in order, of which one that does not say when it was
// made keeps the time of its first import.
func (w *importWriter) dated(ctx context.Context, table sourceTable, sources []source, created func(source) string) (changed int, err error) {
	for _, resource := range sources {
		table.keeps = ""
		if created(resource) == "" {
			table.keeps = "created_at"
		}
		n, err := table.writeInOrder(w, ctx, []source{resource})
		if err != nil {
			return 0, err
		}
		changed += n
	}
	return changed, nil
}

func (w *importWriter) catalogs(ctx context.Context, sources []source) (int, error) {
	w.topics = append(w.topics, db.TopicCatalog)
	return w.dated(ctx, catalogTable, sources, func(r source) string { return r.(*catalogSource).Attributes.CreatedAt })
}

func (w *importWriter) rules(ctx context.Context, sources []source) (int, error) {
	w.topics = append(w.topics, db.TopicCatalog)
	return w.dated(ctx, ruleTable, sources, func(r source) string { return r.(*ruleSource).Attributes.CreatedAt })
}
