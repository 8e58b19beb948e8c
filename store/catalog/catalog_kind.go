package catalog

import (
	"context"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// CatalogKind is the kind of catalogs.
var CatalogKind = authoring.Kind{
	Name: "catalog", Create: func() authoring.Source { return &Source{} },
	Write: writeCatalogs, Delete: deleteCatalogs, Export: authoring.ExportBodies("catalog", "id", "sequence", "id"),
	Published: true, Referred: true,
	Inputs: store.PathRenames{{"attributes.hierarchies", "hierarchy_ids"}, {"attributes.pricebook_ids", "pricebooks"}},
}

// RuleKind is the kind of catalog rules. Releases do not contain them: they select a catalog when a shopper reads.
var RuleKind = authoring.Kind{
	Name: "catalog_rule", Create: func() authoring.Source { return &RuleSource{} },
	Write: writeRules, Delete: deleteRules, Export: authoring.ExportBodies("catalog_rule", "id", "sequence", "id"),
}

var catalogTable = authoring.Table{
	Name: "catalog", Columns: []string{"id", "sequence", "created_at", "body"},
	Row: func(r authoring.Source, _ *db.Tx) []any {
		return []any{r.Key(), nil, timeOf(r.(*Source).Attributes.CreatedAt), store.Encode(r)}
	},
}

var ruleTable = authoring.Table{
	Name: "catalog_rule", Columns: []string{"id", "sequence", "catalog_id", "created_at", "body"},
	Row: func(r authoring.Source, _ *db.Tx) []any {
		rule := r.(*RuleSource)
		return []any{rule.ID, nil, rule.Attributes.CatalogID, timeOf(rule.Attributes.CreatedAt), store.Encode(rule)}
	},
}

func writeCatalogs(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]string, error) {
	w.Topics = append(w.Topics, db.TopicCatalog)
	return catalogTable.Write(ctx, w, sources)
}

func writeRules(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]string, error) {
	w.Topics = append(w.Topics, db.TopicCatalog)
	return ruleTable.Write(ctx, w, sources)
}

// deleteCatalogs deletes catalogs. Shoppers no longer get them, and the next sweep deletes their
// releases, which are superseded from now on.
func deleteCatalogs(ctx context.Context, w *authoring.Writer, ids []string) ([]string, error) {
	w.Topics = append(w.Topics, db.TopicCatalog)
	if err := db.ExecIn(ctx, w.Session, ids, `
		UPDATE release SET superseded_at = `+w.LaterSQL(`CAST($1 AS BIGINT)`)+`
		WHERE state = $2 AND superseded_at = 0 AND catalog_id IN ($in)`, store.Micros(w.Now), ReleasePublished); err != nil {
		return nil, err
	}
	return w.RemoveAll(ctx, "catalog", ids)
}

func deleteRules(ctx context.Context, w *authoring.Writer, ids []string) ([]string, error) {
	w.Topics = append(w.Topics, db.TopicCatalog)
	return w.RemoveAll(ctx, "catalog_rule", ids)
}

// The states of a release.
const (
	ReleaseBuilding  = "building"
	ReleasePublished = "published"
	ReleaseBase      = "base" // made for later deltas, and never shown
)

// RolledBackSQL is true for a row of catalog that a rollback holds at an older release.
const RolledBackSQL = `COALESCE(release_id < held_below, FALSE)`
