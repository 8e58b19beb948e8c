package catalog

import (
	"context"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// SynonymsKind is the kind of synonyms.
var SynonymsKind = authoring.Kind{
	Name: "synonym", Create: func() authoring.Source { return &SynonymSource{} },
	Write: writeSynonyms, Delete: authoring.RemoveRows("synonym"), Export: authoring.ExportBodies("synonym", "id", "sequence", "id"),
	Published: true, Most: MaxSynonyms,
}

var synonymTable = authoring.Table{Name: "synonym", Columns: []string{"id", "sequence", "body"}, Row: authoring.RowInOrder}

// writeSynonyms writes synonyms. It returns UNPROCESSABLE if the shop has too many then.
func writeSynonyms(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (int, error) {
	changed, err := synonymTable.Write(ctx, w, sources)
	if err != nil || changed == 0 {
		return changed, err
	}
	count, _, err := db.One(ctx, w.Session, db.Scalar[int], `SELECT COUNT(*) FROM synonym`)
	if err == nil && count > MaxSynonyms {
		err = store.Unprocessablef(nil, "A shop has at most %d synonyms. Delete some first.", MaxSynonyms)
	}
	return changed, err
}
