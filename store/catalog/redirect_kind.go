package catalog

import (
	"context"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// RedirectKind is the kind of redirects.
var RedirectKind = authoring.Kind{
	Name: "redirect", Create: func() authoring.Source { return &RedirectSource{} },
	Write: limited(redirectTable, MaxRedirects), Delete: authoring.RemoveRows("redirect"), Export: authoring.ExportBodies("redirect", "id", "sequence", "id"),
	Published: true, Most: MaxRedirects, Inputs: store.Renames{{"relationships.target.data", "target"}, {"relationships.target", "target"}},
}

var redirectTable = authoring.Table{
	Name: "redirect", Columns: []string{"id", "sequence", "from_path", "to_path", "body"},
	Row: func(r authoring.Source, _ *db.Tx) []any {
		own := r.(*RedirectSource).Attributes
		return []any{r.Key(), nil, own.From, own.To, store.Encode(r)}
	},
}

// limited returns the Write of a table of which a shop may have only so many rows. It returns UNPROCESSABLE
// for more.
func limited(table authoring.Table, most int) func(context.Context, *authoring.Writer, []authoring.Source) ([]string, error) {
	return func(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]string, error) {
		changed, err := table.Write(ctx, w, sources)
		if err != nil || len(changed) == 0 {
			return changed, err
		}
		count, _, err := db.One(ctx, w.Session, db.Scalar[int], `SELECT COUNT(*) FROM `+table.Name)
		if err == nil && count > most {
			err = store.Unprocessablef(nil, "A shop has at most %d of the type %s. Delete some first.", most, table.Name)
		}
		return changed, err
	}
}
