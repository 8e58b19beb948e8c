package shop

import (
	"context"
	"slices"
	"sort"

	"portico/store"
)

// posting are the products that a term keeps: those under runs of an index,
// each of one value and in order, or some places. What is asked of it costs
// what it finds, not what the shop has.
type posting struct {
	runs   []packedHashes
	places ordinals // in order
}

// matching returns what a term keeps; in the lower layer, dead products too.
func (v *View) matching(ctx context.Context, term store.Term) (posting, error) {
	if term.Attribute == "id" {
		places, err := v.placesByID(ctx, term.Values)
		return posting{places: ordered(places)}, err
	}
	return v.posting(ctx, term.Attribute, store.Unique(term.Values))
}

// posting finds values in the index of an attribute, in both layers.
func (v *View) posting(ctx context.Context, attribute string, values []string) (p posting, err error) {
	for _, layer := range []*View{v, v.base()} {
		if layer == nil {
			break
		}
		chunks, numbers, err := layer.indexOf(ctx, attribute, values)
		if err != nil {
			return p, err
		}
		for _, value := range values {
			hash := hashValue(value)
			for _, number := range numbers {
				if run := chunks[number].find(hash); len(run) > 0 {
					p.runs = append(p.runs, run)
				}
			}
		}
	}
	return p, nil
}

// len is how many there are; those with several of the values count several
// times.
func (p posting) len() int {
	n := len(p.places)
	for _, run := range p.runs {
		n += len(run) / indexEntry
	}
	return n
}

func (p posting) holds(place uint32) bool {
	if _, found := slices.BinarySearch(p.places, place); found {
		return true
	}
	return slices.ContainsFunc(p.runs, func(run packedHashes) bool {
		n := len(run) / indexEntry
		at := sort.Search(n, func(i int) bool { return run.place(i) >= place })
		return at < n && run.place(at) == place
	})
}

// manyTimes is how much longer a list must be than another for it to be
// cheaper to look each of the other's up in it than to go through it.
const manyTimes = 64

// ordinals are the products in order, each once; those of the release go so
// far.
func (p posting) ordinals(far int) ordinals {
	if len(p.runs) > 1 && p.len()*manyTimes > far {
		return p.set(far).list()
	}
	found := make(ordinals, 0, p.len())
	found = append(found, p.places...)
	for _, run := range p.runs {
		for i := range len(run) / indexEntry {
			found = append(found, run.place(i))
		}
	}
	if len(p.runs) > 1 {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return found
}

// among keeps of a list what the posting holds, in the list's own memory.
func (p posting) among(found ordinals, far int) ordinals {
	if len(found)*manyTimes < p.len() {
		return slices.DeleteFunc(found, func(place uint32) bool { return !p.holds(place) })
	}
	return p.set(far).among(found)
}

func (p posting) set(far int) ordinalSet {
	set := newOrdinalSet(far)
	for _, place := range p.places {
		set.add(place)
	}
	for _, run := range p.runs {
		for i := range len(run) / indexEntry {
			set.add(run.place(i))
		}
	}
	return set
}

// intersect keeps what both sorted lists have.
func intersect(a, b ordinals) ordinals {
	both := make(ordinals, 0, min(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			both, a, b = append(both, a[0]), a[1:], b[1:]
		}
	}
	return both
}
