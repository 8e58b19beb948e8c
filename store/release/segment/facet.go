package segment

import (
	"context"
	"database/sql"
	"encoding/binary"

	"portico/internal/cachekey"
	"portico/store/db"
	"portico/store/index"
)

// Facet holds the values of one attribute for all products of a layer: of each product its values, and of each
// value its products. The first is stored, the second computed when it is read. It takes at most four bytes a
// product and value.
type Facet struct {
	first   uint32 // the first ordinal of the layer
	values  []string
	numbers index.AdjacencyList // of the values that each product has

	sets  []index.OrdinalSet  // of the products of frequent values, by value, from ordinal first/64*64 on; nil for other values
	lists index.AdjacencyList // of the products of other values
	work  int                 // of counting all values by sets and lists, in steps
}

func (f *Facet) Size() int {
	n := 128 + 4*(len(f.numbers.Items)+len(f.numbers.Ends)+len(f.lists.Items)+len(f.lists.Ends))
	for number, value := range f.values {
		n += 16 + len(value) + f.sets[number].Size()
	}
	return n
}

// Values returns the number of different values.
func (f *Facet) Values() int { return len(f.values) }

// invert computes the products of each value. A set takes less memory than a list if more than one in 32
// products has the value.
func (f *Facet) invert() {
	counts := make([]int, len(f.values))
	for _, number := range f.numbers.Items {
		counts[number]++
	}
	products := f.numbers.Len()
	start := f.first / 64 * 64
	f.sets = make([]index.OrdinalSet, len(f.values))
	f.lists.Ends = make([]uint32, len(f.values))
	next := make([]uint32, len(f.values))
	total := uint32(0)
	for number, n := range counts {
		next[number] = total
		if 32*n > products {
			f.sets[number] = index.NewOrdinalSet(int(f.first-start) + products)
			f.work += len(f.sets[number])
		} else {
			total += uint32(n)
			f.work += n
		}
		f.lists.Ends[number] = total
	}
	f.lists.Items = make([]uint32, total)
	for i := range uint32(products) {
		for _, number := range f.numbers.Of(i) {
			if set := f.sets[number]; set != nil {
				set.Add(f.first - start + i)
			} else {
				f.lists.Items[next[number]] = f.first + i
				next[number]++
			}
		}
	}
}

// countedStep is the cost of counting one value of one product by its numbers, in steps of Facet.work: it jumps in memory, and
// a step of work goes through a set or a list.
const countedStep = 4

// Count adds to counts, by value, the number of products of the layer in found, a set of n products of all layers. It goes
// through the products of found if they are few, else through the products of each value.
func (f *Facet) Count(found index.OrdinalSet, n int, counts map[string]int) {
	own := make([]int, len(f.values))
	if products := f.numbers.Len(); products > 0 && countedStep*n*(products+len(f.numbers.Items))/products < f.work {
		found.Each(func(ordinal uint32) {
			if ordinal >= f.first {
				for _, number := range f.numbers.Of(ordinal - f.first) {
					own[number]++
				}
			}
		})
	} else {
		for number, set := range f.sets {
			if set != nil {
				own[number] = set.LenIn(found[f.first/64:])
				continue
			}
			own[number] = found.LenOf(f.lists.Of(uint32(number)))
		}
	}
	for number, n := range own {
		if n > 0 {
			counts[f.values[number]] += n
		}
	}
}

// Facets reads an attribute of all products, layer by layer.
func (r *Reader) Facets(ctx context.Context, attribute string) (facets []*Facet, err error) {
	r.Reads.Add(AnyProduct)
	for _, layer := range r.layers() {
		f, err := layer.facet(ctx, attribute)
		if err != nil {
			return nil, err
		}
		facets = append(facets, f)
	}
	return facets, nil
}

// facet reads an attribute in the own layer.
func (r *Reader) facet(ctx context.Context, attribute string) (*Facet, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedFacet, Name: cachekey.New(attribute)}
	if kept, ok := db.Cached[*Facet](r.Cache, key); ok {
		return kept, nil
	}
	f := &Facet{first: uint32(r.Release.FirstOrdinal)}
	chunks, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (number int, err error) {
		var body []byte
		if err := rows.Scan(&number, &body); err != nil {
			return 0, err
		}
		if number == DirectoryChunk {
			*f = Facet{first: f.first, values: unpackTexts(body)} // the first row, also of a second attempt
		} else {
			f.unpack(body)
		}
		return number, nil
	}, `SELECT chunk, body FROM release_facet WHERE release_id = $1 AND attribute = $2 ORDER BY chunk`, r.Release.ID, attribute)
	if err != nil {
		return nil, err
	}
	if len(chunks) < 1+(r.Release.Ordinals-r.Release.FirstOrdinal+ChunkSize-1)/ChunkSize {
		return nil, ErrGone
	}
	f.invert()
	r.Cache.Set(key, f)
	return f, nil
}

// unpack appends the values of a chunk's products: of each their number, and the number of each value.
func (f *Facet) unpack(body []byte) {
	for len(body) > 0 {
		n, at := binary.Uvarint(body)
		for body = body[at:]; n > 0; n-- {
			number, at := binary.Uvarint(body)
			body = body[at:]
			f.numbers.Add(uint32(number))
		}
		f.numbers.End()
	}
}
