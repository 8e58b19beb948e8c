package catalog

import (
	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// RedirectKind is the kind of redirects.
var RedirectKind = authoring.Kind{
	Name: "redirect", Create: func() authoring.Source { return &RedirectSource{} },
	Write: limited(redirectTable, MaxRedirects), Delete: authoring.RemoveRows("redirect"), Export: authoring.ExportBodies("redirect", "id", "sequence", "id"),
	Published: true, Most: MaxRedirects, Inputs: store.PathRenames{{"relationships.target.data", "target"}, {"relationships.target", "target"}},
}

var redirectTable = authoring.Table{
	Name: "redirect", Columns: []string{"id", "sequence", "from_path", "to_path", "body"},
	Row: func(r authoring.Source, _ *db.Tx) []any {
		own := r.(*RedirectSource).Attributes
		return []any{r.Key(), nil, own.From, own.To, store.Encode(r)}
	},
}
