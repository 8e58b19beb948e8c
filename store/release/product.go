package release

import (
	"context"
	"slices"
	"strings"
	"unsafe"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/price"
	"portico/store/release/segment"
)

// Product is a product as a view shows it. All but Curated is shared between
// requests: do not change it.
type Product struct {
	*storedProduct
	release *segment.Release // of the view; nil for a NamedProduct
	Curated bool             // in the node that it was listed for
}

// NamedProduct returns a product that has nothing but its id, to read live data
// by it, such as stock and promotions.
func NamedProduct(id string) *Product { return &Product{storedProduct: &storedProduct{id: id}} }

// NamedProductBytes is the size of a NamedProduct in memory, without its id.
const NamedProductBytes = int(unsafe.Sizeof(Product{}) + unsafe.Sizeof(storedProduct{}))

const curatedMember = `,"curated_product":true`

// GlobalID returns the product's id, which is unique over all types.
func (p *Product) GlobalID() string { return store.GlobalID(store.TypeProduct, p.id) }

// AppendJSON appends the product as REST returns it.
func (p *Product) AppendJSON(dst []byte) []byte {
	if !p.Curated {
		return append(dst, p.body...)
	}
	dst = append(dst, p.body[:p.insert]...)
	dst = append(dst, curatedMember...)
	return append(dst, p.body[p.insert:]...)
}

// JSONSize returns the number of bytes that AppendJSON appends.
func (p *Product) JSONSize() int {
	if p.Curated {
		return len(p.body) + len(curatedMember)
	}
	return len(p.body)
}

// ProductKey names one product, by exactly one of its members.
type ProductKey struct{ ID, SKU, Slug, Path string }

// Product returns one product of the catalog, listed or not; NOT_FOUND when
// there is none. Of several with one SKU or slug it returns the last updated. A path is that of a node, as for
// NodeAtPath, a slash and the slug of a product that the node lists.
func (v *View) Product(ctx context.Context, key ProductKey) (*Product, error) {
	var ordinals index.Ordinals
	var err error
	switch {
	case key.ID != "":
		var byID map[string]segment.Ordinal
		byID, err = v.OrdinalsByID(ctx, []string{key.ID}, nil)
		ordinals = segment.Ordered(byID)
	case key.SKU != "":
		ordinals, err = v.Indexed(ctx, "sku", key.SKU)
	case key.Path != "":
		return v.productAtPath(ctx, key.Path)
	default:
		ordinals, err = v.Indexed(ctx, "slug", key.Slug)
	}
	if err != nil {
		return nil, err
	}
	if len(ordinals) == 0 {
		return nil, errNoProduct()
	}
	if ordinals, err = v.ByUpdate(ctx, ordinals); err != nil {
		return nil, err
	}
	found, err := v.ProductsAt(ctx, ordinals[:1])
	if err != nil {
		return nil, err
	}
	return &Product{storedProduct: found[0], release: v.Release}, nil
}

// maxAlike limits the products with one slug that are read to find the one at a path.
const maxAlike = 100

// productAtPath is Product for a path. Of several products with the slug that the node lists it returns the last updated,
// of the first maxAlike.
func (v *View) productAtPath(ctx context.Context, path string) (*Product, error) {
	path = strings.Trim(path, "/")
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return nil, errNoProduct()
	}
	node, err := v.NodeAtPath(ctx, path[:at])
	if err != nil {
		return nil, err
	}
	found, err := v.productsWithSlug(ctx, path[at+1:])
	if err != nil {
		return nil, err
	}
	for _, product := range found {
		if slices.Contains(product.NodeIDs(), node.ID) {
			return &Product{storedProduct: product, release: v.Release}, nil
		}
	}
	return nil, errNoProduct()
}

// productsWithSlug returns the first maxAlike products with a slug, the last updated first.
func (v *View) productsWithSlug(ctx context.Context, slug string) ([]*storedProduct, error) {
	ordinals, err := v.Indexed(ctx, "slug", slug)
	if err != nil || len(ordinals) == 0 {
		return nil, err
	}
	if ordinals, err = v.ByUpdate(ctx, ordinals); err != nil {
		return nil, err
	}
	return v.ProductsAt(ctx, ordinals[:min(maxAlike, len(ordinals))])
}

func errNoProduct() *store.Error {
	return store.NotFoundf(nil, "There is no such product in this catalog.")
}

// ProductsByID returns several products of the catalog. It leaves out unknown
// ids. The ordinals of the components of by, products of the view, are often known with them.
func (v *View) ProductsByID(ctx context.Context, ids []string, by ...*Product) (map[string]*Product, error) {
	ordinals, err := v.OrdinalsByID(ctx, ids, componentOrdinals(by))
	if err != nil {
		return nil, err
	}
	found, err := v.ProductsAt(ctx, segment.Ordered(ordinals))
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*Product, len(found))
	for _, product := range found {
		byID[product.id] = &Product{storedProduct: product, release: v.Release}
	}
	return byID, nil
}

// Named returns products with all their members: a NamedProduct is read by its id, in one read for all,
// and nil if the catalog no longer has it.
func (v *View) Named(ctx context.Context, products []*Product) ([]*Product, error) {
	var ids []string
	for _, p := range products {
		if p.release == nil {
			ids = append(ids, p.id)
		}
	}
	if len(ids) == 0 {
		return products, nil
	}
	byID, err := v.ProductsByID(ctx, store.Unique(ids))
	full := make([]*Product, len(products))
	for i, p := range products {
		if full[i] = p; p.release == nil {
			full[i] = byID[p.id]
		}
	}
	return full, err
}

// componentOrdinals returns the stored ordinals of the components of products, by id, as Reader.OrdinalsByID takes them; nil if
// none are stored. A product whose ids and ordinals differ in number is left out.
func componentOrdinals(products []*Product) map[string]segment.Ordinal {
	var ordinals map[string]segment.Ordinal
	for _, p := range products {
		if len(p.componentAt) == 0 {
			continue
		}
		ids := p.ComponentProductIDs()
		if len(ids) != len(p.componentAt) {
			continue
		}
		if ordinals == nil {
			ordinals = make(map[string]segment.Ordinal, 2*len(ids))
		}
		for i, id := range ids {
			ordinals[id] = segment.Ordinal(p.componentAt[i])
		}
	}
	return ordinals
}

// ProductsAt returns the products at some ordinals of the release, in one
// statement for each 512 of them, or two if their slots are not cached. It caches
// them by the release that holds them, so that those of a base stay cached when a
// delta is published.
func (v *View) ProductsAt(ctx context.Context, ordinals []uint32) ([]*storedProduct, error) {
	found := make([]*storedProduct, len(ordinals))
	key := db.CacheKey{Kind: cachedProduct, Name: v.name}
	var missing []uint32
	now := store.Micros(v.now)
	for i, ordinal := range ordinals {
		key.Release, key.Number = v.Release.HolderIdentity(int(ordinal)), int(ordinal)
		kept, ok := db.Cached[*storedProduct](v.Cache, key)
		if !ok || !kept.quote.Holds(now) {
			missing = append(missing, ordinal)
			continue
		}
		found[i] = kept
		v.Reads.Add(segment.ProductKey(kept.id))
		v.valid.narrow(kept.quote.From, kept.quote.Until)
	}
	if len(missing) == 0 {
		return found, nil
	}
	read := make(map[uint32]*storedProduct, len(missing))
	if err := store.Chunked(store.Unique(missing), 512, func(ordinals []uint32) error {
		return v.readProducts(ctx, ordinals, read)
	}); err != nil {
		return nil, err
	}
	for i, ordinal := range ordinals {
		if found[i] != nil {
			continue
		}
		product := read[ordinal]
		found[i], key.Release, key.Number = product, v.Release.HolderIdentity(int(ordinal)), int(ordinal)
		v.Reads.Add(segment.ProductKey(product.id))
		v.valid.narrow(product.quote.From, product.quote.Until)
		v.Cache.Set(key, product)
	}
	return found, nil
}

// readProducts reads the products at some ordinals into a map, by ordinal, with their prices at the view's time. ErrGone when
// one is missing.
func (v *View) readProducts(ctx context.Context, ordinals []uint32, into map[uint32]*storedProduct) error {
	stored, err := v.ReadProducts(ctx, ordinals)
	if err != nil {
		return err
	}
	defer stored.Release()
	formatter := v.formatter()
	for i, ordinal := range ordinals {
		p := &stored.Products[i]
		if p.ID == "" {
			return segment.ErrGone
		}
		offer, err := price.OfferIn(p.Offers, v.Currency)
		if err != nil {
			return err
		}
		quote := price.QuoteAt(offer, store.Micros(v.now), formatter)
		if into[ordinal], err = newStoredProduct(v, p, ordinal, quote); err != nil {
			return err
		}
	}
	return nil
}

// FilesOf returns the file of each id; nil if there is none. products, of the view, are those that refer
// to the ids, in their order. The file is often in memory with its product.
func (v *View) FilesOf(ctx context.Context, ids []string, products []*Product) ([]*catalog.File, error) {
	return v.Reader.FilesOf(ctx, ids, func(i int) []*catalog.File { return products[i].storedFiles() })
}
