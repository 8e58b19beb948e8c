package catalog

import (
	"portico/store"
	"portico/store/authoring"
)

// AttributeKind is the kind of declared attributes.
var AttributeKind = authoring.Kind{
	Name: "attribute", Create: func() authoring.Source { return &AttributeSource{} },
	Write: attributeTable.Write, Delete: authoring.RemoveRows("attribute"), Export: authoring.ExportBodies("attribute", "id", "sequence", "id"),
	Published: true, Inputs: store.PathRenames{{"id", "key"}, {"attributes.attribute_type", "type"}},
}

var attributeTable = authoring.Table{Name: "attribute", Columns: []string{"id", "sequence", "body"}, Row: authoring.RowInOrder}
