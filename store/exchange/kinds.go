package exchange

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

// allKinds are all kinds, in the order of an export.
var allKinds = []authoring.Kind{
	settings.SettingsKind, catalog.FileKind, catalog.AttributeKind, catalog.ProductKind,
	catalog.HierarchyKind, catalog.NodeKind, catalog.SynonymsKind, catalog.RedirectKind,
	catalog.PricebookKind, catalog.PriceKind, catalog.ModifierKind,
	catalog.CatalogKind, catalog.RuleKind,
	stock.StockTransactionKind, stock.StockKind,
	promotion.PromotionKind, code.CodeKind, redeem.UsageKind,
	gateway.GatewayKind, access.ClientKind,
}

// kindByName returns the kind called name, or the zero Kind.
func kindByName(name string) authoring.Kind {
	for i := range allKinds {
		if allKinds[i].Name == name {
			return allKinds[i]
		}
	}
	return authoring.Kind{}
}

// KindNames lists the types of resources, in the order of an export.
func KindNames() (names []string) {
	for i := range allKinds {
		names = append(names, allKinds[i].Name)
	}
	return names
}
