package compare

// PendingEffect is what the next publication does to a product.
type PendingEffect string

// The effects.
const (
	PendingAdd    PendingEffect = "add"    // it is live, and the served release does not show it
	PendingChange PendingEffect = "change" // the served release shows an older version
	PendingRemove PendingEffect = "remove" // it is a draft or deleted, and the served release shows it
	PendingNone   PendingEffect = "none"   // it is a draft or deleted, and not shown
)

// ResourceKind is the kind of a resource that a release is made of.
type ResourceKind string

// The kinds.
const (
	ResourceProduct       ResourceKind = "product"
	ResourcePrice         ResourceKind = "price"
	ResourcePriceModifier ResourceKind = "price_modifier"
	ResourcePricebook     ResourceKind = "pricebook"
	ResourceFile          ResourceKind = "file"
	ResourceNode          ResourceKind = "node"
	ResourceHierarchy     ResourceKind = "hierarchy"
	ResourceCatalog       ResourceKind = "catalog"
	ResourceAttribute     ResourceKind = "attribute"
	ResourceSynonym       ResourceKind = "synonym"
	ResourceRedirect      ResourceKind = "redirect"
)

// EffectOf returns what the next publication does to a product that is live or not, and that the served release shows or not.
func EffectOf(live, shown bool) PendingEffect {
	switch {
	case live && shown:
		return PendingChange
	case live:
		return PendingAdd
	case shown:
		return PendingRemove
	}
	return PendingNone
}
