package segment

import "portico/internal/dependency"

// The kinds of keys that responses depend on. A key is a hash of its kind and name. Releases store hashes of keys
// (release_change), so a kind never changes its letter or its meaning without another ReleaseFormat. AnyAttribute ('A') and
// AnyRedirect ('R') are declared with what they are for.
const (
	productKind  = 'p' // a product by its id
	nodeKind     = 'n' // a node or hierarchy by its id
	childrenKind = 'c' // the nodes directly below one, by its id
	listKind     = 'l' // a list of products in all its orders, by its name
	fileKind     = 'f' // a file by its id
	skuKind      = 's' // the products with a SKU
	slugKind     = 'g' // the products with a slug
)

// Keys that many changes touch.
var (
	AnyProduct = dependency.NewKey('P', "") // whatever a search, a filter, a facet or an order by price may read
	AnyNode    = dependency.NewKey('N', "") // any node: what it shows, or that there is one
	AnyFile    = dependency.NewKey('F', "") // the list of all files

	AnyCurrency = dependency.NewKey('C', "") // which currencies there are prices in
)

// ProductKey returns the key of a product.
func ProductKey(id string) dependency.Key { return dependency.NewKey(productKind, id) }

// NodeKey returns the key of a node or hierarchy.
func NodeKey(id string) dependency.Key { return dependency.NewKey(nodeKind, id) }

// ChildrenKey returns the key of the nodes directly below one.
func ChildrenKey(id string) dependency.Key { return dependency.NewKey(childrenKind, id) }

// ListKey returns the key of a list of products.
func ListKey(name string) dependency.Key { return dependency.NewKey(listKind, name) }

// FileKey returns the key of a file.
func FileKey(id string) dependency.Key { return dependency.NewKey(fileKind, id) }

// SKUKey returns the key of the products with a SKU.
func SKUKey(sku string) dependency.Key { return dependency.NewKey(skuKind, sku) }

// SlugKey returns the key of the products with a slug.
func SlugKey(slug string) dependency.Key { return dependency.NewKey(slugKind, slug) }

// ReadValues records that products are found by values of an attribute: by each id, SKU or slug itself, and by any other
// attribute as AnyProduct, because no key names those.
func (r *Reader) ReadValues(attribute string, values []string) {
	switch attribute {
	case "id":
		r.Reads.AddNames(productKind, values)
	case "sku":
		r.Reads.AddNames(skuKind, values)
	case "slug":
		r.Reads.AddNames(slugKind, values)
	default:
		r.Reads.Add(AnyProduct)
	}
}
