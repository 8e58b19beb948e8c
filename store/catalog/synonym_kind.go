package catalog

import "portico/store/authoring"

// SynonymsKind is the kind of synonyms.
var SynonymsKind = authoring.Kind{
	Name: "synonym", Create: func() authoring.Source { return &SynonymSource{} },
	Write: limited(synonymTable, MaxSynonyms), Delete: authoring.RemoveRows("synonym"), Export: authoring.ExportBodies("synonym", "id", "sequence", "id"),
	Published: true, Most: MaxSynonyms,
}

var synonymTable = authoring.Table{Name: "synonym", Columns: []string{"id", "sequence", "body"}, Row: authoring.RowInOrder}
