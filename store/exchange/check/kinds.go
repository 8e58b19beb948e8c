// Package check decodes the lines of an import and finds what is wrong with them: form,
// members, keys, references, numbers and ledgers. A Decoder makes a Line of a text,
// checkers collect Lines, and ImportError is the result. It must not import exchange or write.
package check

import (
	"portico/store/access"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/gateway"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/settings"
	"portico/store/stock"
)

// Kinds are all kinds, in the order of an export.
var Kinds = []authoring.Kind{
	settings.Kind, catalog.FileKind, catalog.AttributeKind, catalog.ProductKind,
	catalog.HierarchyKind, catalog.NodeKind, catalog.SynonymsKind, catalog.RedirectKind,
	catalog.PricebookKind, catalog.PriceKind, catalog.ModifierKind,
	catalog.CatalogKind, catalog.RuleKind,
	stock.TransactionKind, stock.Kind,
	promotion.Kind, code.Kind, redeem.UsageKind,
	gateway.Kind, access.ClientKind,
}

// KindByName returns the kind called name, or the zero Kind.
func KindByName(name string) authoring.Kind {
	for i := range Kinds {
		if Kinds[i].Name == name {
			return Kinds[i]
		}
	}
	return authoring.Kind{}
}
