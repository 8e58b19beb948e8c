package segment

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/price"
)

// ListChildren is the name of the chunks of a release that hold the live children of its parents: the ordinal of a
// parent, the number of its children and their ordinals, then the next parent. A delta has those of its own parents. It
// holds every parent of which a child came, changed or went.
const ListChildren = "children"

// Families are the parents of a release with their live children, by ordinal.
type Families struct {
	parents  index.Ordinals      // in order
	children index.AdjacencyList // of each parent, in the order of ids
	born     index.Ordinals      // all children, in order
	of       index.Ordinals      // their parents
}

// Size is the memory in bytes.
func (f *Families) Size() int {
	if f == nil {
		return 0
	}
	return 96 + 4*(len(f.parents)+len(f.children.Items)+len(f.children.Ends)+len(f.born)+len(f.of))
}

// Children returns the ordinals of a parent's children; none for other products.
func (f *Families) Children(parent uint32) []uint32 {
	at, found := slices.BinarySearch(f.parents, parent)
	if !found {
		return nil
	}
	return f.children.Of(uint32(at))
}

// Parent returns the ordinal of a child's parent.
func (f *Families) Parent(child uint32) (parent uint32, found bool) {
	at, found := slices.BinarySearch(f.born, child)
	if !found {
		return 0, false
	}
	return f.of[at], true
}

// lower sets the amount of each parent to the lowest of its children; amounts are by ordinal.
func (f *Families) lower(amounts []int64) {
	if f == nil {
		return
	}
	for i, parent := range f.parents {
		lowest := int64(Unpriced)
		for _, child := range f.children.Of(uint32(i)) {
			if amount := amounts[child]; amount != Unpriced && (lowest == Unpriced || amount < lowest) {
				lowest = amount
			}
		}
		amounts[parent] = lowest
	}
}

// Families reads the parents of the release. UNPROCESSABLE if a version that stored none published it.
func (r *Reader) Families(ctx context.Context) (*Families, error) {
	r.Reads.Add(AnyProduct)
	if r.Release.Format < FormatOfFamilies {
		return nil, r.missing(ctx, "lists of children")
	}
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedFamilies}
	if kept, ok := db.Cached[*Families](r.Cache, key); ok {
		return kept, nil
	}
	dead, err := r.Dead(ctx)
	if err != nil {
		return nil, err
	}
	type chunk struct {
		release int64
		body    []byte
	}
	of, args := r.InLayers(ListChildren, r.Release.Ordinals)
	chunks, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (c chunk, err error) {
		return c, rows.Scan(&c.release, &c.body)
	}, `SELECT release_id, body FROM release_chunk WHERE release_id IN (`+of+`) AND list = $1 AND sort = '' AND chunk BETWEEN 0 AND $2 ORDER BY release_id, chunk`, args...)
	if err != nil {
		return nil, err
	}
	f := &Families{}
	layers := map[int64]bool{} // each layer has a chunk, which is empty if it has no parents
	for _, c := range chunks { // the base first, whose number is the lowest
		layers[c.release] = true
		f.add(index.UnpackOrdinals(c.body), dead)
	}
	if len(layers) <= len(r.Release.Below) {
		return nil, ErrGone
	}
	f.connect()
	r.Cache.Set(key, f)
	return f, nil
}

// add adds the parents of a chunk that are not dead.
func (f *Families) add(packed, dead index.Ordinals) {
	for len(packed) > 0 {
		parent, end := packed[0], 2+packed[1]
		if _, isDead := slices.BinarySearch(dead, parent); !isDead {
			f.parents = append(f.parents, parent)
			f.children.Items = append(f.children.Items, packed[2:end]...)
			f.children.End()
		}
		packed = packed[end:]
	}
}

// connect connects the children with their parents.
func (f *Families) connect() {
	order := make([][2]uint32, 0, len(f.children.Items))
	for i, parent := range f.parents {
		for _, child := range f.children.Of(uint32(i)) {
			order = append(order, [2]uint32{child, parent})
		}
	}
	slices.SortFunc(order, func(a, b [2]uint32) int { return int(a[0]) - int(b[0]) })
	for _, pair := range order {
		f.born, f.of = append(f.born, pair[0]), append(f.of, pair[1])
	}
}

// OffersAt reads what the products at some ordinals cost in a currency, in their order.
func (r *Reader) OffersAt(ctx context.Context, places []uint32, currency string) ([]*catalog.Offer, error) {
	offers := make([]*catalog.Offer, len(places))
	if r.Release.Format < FormatOfBlocks {
		stored, err := r.ProductsStored(ctx, places)
		if err != nil {
			return nil, err
		}
		defer stored.Release()
		for n := range stored.Products {
			if offers[n], err = price.OfferIn(stored.Products[n].Offers, currency); err != nil {
				return nil, err
			}
		}
		return offers, nil
	}
	found := &StoredProducts{}
	defer found.Release()
	return offers, r.readBlocks(ctx, places, found, func(n int, block *productBlock, position int) error {
		var p StoredProduct
		err := r.readCommon(&p, places[n], block, position)
		if err == nil {
			offers[n], err = price.OfferIn(p.Offers, currency)
		}
		return cmp.Or(err, store.Charge(ctx, offerWork))
	})
}

// offerWork is the cost of reading what one product costs, in bytes of an Allowance.
const offerWork = 1 << 10
