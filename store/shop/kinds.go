package shop

// kinds are all there are, in the order of an export.
var kinds = []kind{
	settingsKind, fileKind, productKind,
	hierarchyKind, nodeKind,
	pricebookKind, priceKind, modifierKind,
	catalogKind, ruleKind,
	stockTransactionKind, stockKind,
	promotionKind, codeKind, usageKind,
	gatewayKind, clientKind,
}

// kindOf is a kind by its name; the zero kind for none.
func kindOf(name string) kind {
	for i := range kinds {
		if kinds[i].name == name {
			return kinds[i]
		}
	}
	return kind{}
}
