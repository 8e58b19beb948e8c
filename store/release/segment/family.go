package segment

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"unsafe"

	"portico/internal/heapsize"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// ListChildren is the name of the chunks of a release that hold the live children of its parents: the ordinal of a
// parent, the number of its children and their ordinals, then the next parent. A parent may have none. A delta has those
// of its own parents. It holds every parent of which a child came, changed or went.
const ListChildren = "children"

// ListRequired is the name of the chunks that hold what bundles cannot be bought without, in the same form: the ordinal of a
// bundle, how many numbers follow, and for each component with a minimum that minimum, the number of its live options, and
// the ordinal and the quantity of each. A delta holds every bundle of which an option came, changed or went.
const ListRequired = "required"

// Families are what the parents and bundles of a release are bought as, by ordinal.
type Families struct {
	children ordinalLists   // of each parent, in the order of ids
	required ordinalLists   // of each bundle, as in ListRequired
	born     index.Ordinals // all children, in order
	of       index.Ordinals // their parents, by position in born
	inSets   bool           // InSets
}

// ordinalLists are lists of numbers of some products.
type ordinalLists struct {
	ordinals index.Ordinals      // of these products, in order
	lists    index.AdjacencyList // by position in ordinals
}

func (l *ordinalLists) size() int {
	return heapsize.Slice(cap(l.ordinals), 4) + heapsize.Slice(cap(l.lists.Items), 4) + heapsize.Slice(cap(l.lists.Ends), 4)
}

// get returns the list of a product.
func (l *ordinalLists) get(ordinal uint32) (list []uint32, found bool) {
	at, found := slices.BinarySearch(l.ordinals, ordinal)
	if !found {
		return nil, false
	}
	return l.lists.Of(uint32(at)), true
}

// add adds the lists of a chunk, without those of dead products.
func (l *ordinalLists) add(packed, dead index.Ordinals) {
	for len(packed) > 0 {
		ordinal, end := packed[0], 2+packed[1]
		if _, isDead := slices.BinarySearch(dead, ordinal); !isDead {
			l.ordinals = append(l.ordinals, ordinal)
			l.lists.Items = append(l.lists.Items, packed[2:end]...)
			l.lists.End()
		}
		packed = packed[end:]
	}
}

// Size is the memory in bytes.
func (f *Families) Size() int {
	if f == nil {
		return 0
	}
	return heapsize.Round(int(unsafe.Sizeof(*f))) + f.children.size() + f.required.size() + heapsize.Slice(cap(f.born), 4) + heapsize.Slice(cap(f.of), 4)
}

// Children returns the ordinals of a parent's live children.
func (f *Families) Children(ordinal uint32) (children []uint32, isParent bool) {
	return f.children.get(ordinal)
}

// Parent returns the ordinal of a child's parent.
func (f *Families) Parent(child uint32) (parent uint32, found bool) {
	at, found := slices.BinarySearch(f.born, child)
	if !found {
		return 0, false
	}
	return f.of[at], true
}

// InSets reports whether a bundle takes several units of an option, so that more than none of them matters.
func (f *Families) InSets() bool { return f.inSets }

// Limits of Units.
const (
	maxNested  = 4       // levels below the product
	maxRecords = 1 << 14 // stock records for one product
)

// Units returns how many units of a product can be bought, or store.NoStockRecord without a limit: of a parent those of its
// best child, of others those of their stock record, and of a bundle without one as many as its required components allow. An
// option of a component counts in sets of its quantity, and a component with a minimum of n as its n-th best option. What
// exceeds a limit, as a bundle in itself does, cannot be bought.
//
// available returns the units of one product's own record, or store.NoStockRecord. It is called in the same order each time,
// whatever it returns. So callers can run Units once to learn whose records it needs, read them at once, and run it again.
func (f *Families) Units(ordinal uint32, available func(ordinal uint32) int32) int32 {
	w := unitsWalk{f, available, maxRecords}
	if units := w.units(ordinal, 0); units != unlimited {
		return units
	}
	return store.NoStockRecord
}

// unitsWalk is Units while it is computed.
type unitsWalk struct {
	*Families
	available func(ordinal uint32) int32
	left      int // records to read at most
}

// unlimited stands for the units of a product without a stock record.
const unlimited = math.MaxInt32

// units is Units of a product depth levels below the first, with unlimited in place of store.NoStockRecord. A parent counts
// by its children alone. Others read their own record first, because of that order, and then all that they require.
func (w *unitsWalk) units(ordinal uint32, depth int) int32 {
	if depth > maxNested || w.left == 0 {
		return 0
	}
	if children, isParent := w.Children(ordinal); isParent {
		most := int32(0)
		for _, child := range children {
			most = max(most, w.units(child, depth+1))
		}
		return most
	}
	w.left--
	own, allowed := w.available(ordinal), int32(unlimited) // allowed by what it requires
	required, _ := w.required.get(ordinal)
	for len(required) > 0 {
		least, end := int(required[0]), 2+2*required[1]
		sets := make([]int32, 0, 8)
		for option := range slices.Chunk(required[2:end], 2) {
			units := w.units(option[0], depth+1)
			if units != unlimited {
				units /= int32(option[1])
			}
			sets = append(sets, units)
		}
		slices.Sort(sets)
		if len(sets) < least {
			allowed = 0
		} else {
			allowed = min(allowed, sets[len(sets)-least])
		}
		required = required[end:]
	}
	if own != store.NoStockRecord {
		return own
	}
	return allowed
}

// lower sets the amount of each parent to the lowest of its children; amounts are by ordinal.
func (f *Families) lower(amounts []int64) {
	if f == nil {
		return
	}
	lowest := make([]int64, len(f.children.ordinals)) // of all parents before the first is set, since a child may be a parent too
	for i := range lowest {
		lowest[i] = Unpriced
		for _, child := range f.children.lists.Of(uint32(i)) {
			if amount := amounts[child]; amount != Unpriced && (lowest[i] == Unpriced || amount < lowest[i]) {
				lowest[i] = amount
			}
		}
	}
	for i, parent := range f.children.ordinals {
		amounts[parent] = lowest[i]
	}
}

// lift replaces the parents in a set by those of which a child is in it.
func (f *Families) lift(set index.OrdinalSet) {
	lifted := make(index.Ordinals, 0, f.parents()) // all of them before the first is set, since a child may be a parent too
	for i, parent := range f.children.ordinals {
		if slices.ContainsFunc(f.children.lists.Of(uint32(i)), set.Has) {
			lifted = append(lifted, parent)
		}
	}
	for _, parent := range f.children.ordinals {
		set.Remove(parent)
	}
	for _, parent := range lifted {
		set.Add(parent)
	}
}

// parents returns the number of parents.
func (f *Families) parents() int { return len(f.children.ordinals) }

// any reports whether there is a parent.
func (f *Families) any() bool { return f != nil && f.parents() > 0 }

// within returns amounts for a filter: that of a parent is low if a child costs low to high, else Unpriced.
func (f *Families) within(amounts []int64, low, high int64) []int64 {
	if len(amounts) == 0 {
		return nil
	}
	matching := slices.Clone(amounts)
	for i, parent := range f.children.ordinals {
		matching[parent] = Unpriced
		if slices.ContainsFunc(f.children.lists.Of(uint32(i)), func(child uint32) bool { return amounts[child] >= low && amounts[child] <= high }) {
			matching[parent] = low
		}
	}
	return matching
}

// highestChildAmount returns the highest amount of the children of parents in a set; Unpriced without any.
func (f *Families) highestChildAmount(set index.OrdinalSet, amounts []int64) int64 {
	highest := int64(Unpriced)
	if !f.any() {
		return highest
	}
	for i, parent := range f.children.ordinals {
		if set.Has(parent) {
			for _, child := range f.children.lists.Of(uint32(i)) {
				highest = max(highest, amounts[child])
			}
		}
	}
	return highest
}

// Families reads the parents and bundles of the release. The caller records what it shows of them.
func (r *Reader) Families(ctx context.Context) (*Families, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedFamilies}
	if kept, ok := db.Cached[*Families](r.Cache, key); ok {
		return kept, nil
	}
	dead, err := r.Dead(ctx)
	if err != nil {
		return nil, err
	}
	type part struct {
		release int64
		list    string
	}
	type chunk struct {
		part
		body []byte
	}
	of, args := r.InLayers(ListChildren, ListRequired, r.Release.Ordinals)
	chunks, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (c chunk, err error) {
		return c, rows.Scan(&c.release, &c.list, &c.body)
	}, `SELECT release_id, list, body FROM release_chunk WHERE release_id IN (`+of+`) AND list IN ($1, $2) AND sort = '' AND chunk BETWEEN 0 AND $3 ORDER BY release_id, list, chunk`, args...)
	if err != nil {
		return nil, err
	}
	f := &Families{}
	parts := map[part]bool{}
	for _, c := range chunks { // the base first, whose number is lower
		into := &f.children
		if c.list == ListRequired {
			into = &f.required
		}
		into.add(index.UnpackOrdinals(c.body), dead)
		parts[c.part] = true
	}
	if len(parts) < 2*len(r.Release.Layers()) { // each layer has a chunk of each, which is empty if it has no parents or bundles
		return nil, ErrGone
	}
	f.connect()
	f.inSets = f.anyInSets()
	r.Cache.Set(key, f)
	return f, nil
}

// anyInSets computes InSets.
func (f *Families) anyInSets() bool {
	for list := f.required.lists.Items; len(list) > 0; {
		end := 2 + 2*list[1]
		for option := range slices.Chunk(list[2:end], 2) {
			if option[1] > 1 {
				return true
			}
		}
		list = list[end:]
	}
	return false
}

// connect sets born and of. A child has one parent.
func (f *Families) connect() {
	order := make([][2]uint32, 0, len(f.children.lists.Items))
	for i, parent := range f.children.ordinals {
		for _, child := range f.children.lists.Of(uint32(i)) {
			order = append(order, [2]uint32{child, parent})
		}
	}
	slices.SortFunc(order, func(a, b [2]uint32) int { return int(a[0]) - int(b[0]) })
	for _, pair := range order {
		f.born, f.of = append(f.born, pair[0]), append(f.of, pair[1])
	}
}
