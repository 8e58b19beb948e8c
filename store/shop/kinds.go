package shop

import (
	"portico/store/access"
	"portico/store/authoring"
	"portico/store/gateway"
	"portico/store/stock"
)

// kinds are all there are, in the order of an export.
var kinds = []authoring.Kind{
	settingsKind, fileKind, productKind,
	hierarchyKind, nodeKind,
	pricebookKind, priceKind, modifierKind,
	catalogKind, ruleKind,
	stock.StockTransactionKind, stock.StockKind,
	promotionKind, codeKind, usageKind,
	gateway.GatewayKind, access.ClientKind,
}

// kindOf is a kind by its name; the zero kind for none.
func kindOf(name string) authoring.Kind {
	for i := range kinds {
		if kinds[i].Name == name {
			return kinds[i]
		}
	}
	return authoring.Kind{}
}
