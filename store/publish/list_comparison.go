package publish

import (
	"context"
	"math"

	"portico/store/publish/compare"
)

// compareLists returns the lists of the served release to compare with; none if there is no such release or everything differs.
// In a whole release the number of a product is its handle.
func (w *releaseWriter) compareLists(ctx context.Context) (*compare.Lists, error) {
	if w.served == nil || w.everything {
		return &compare.Lists{}, nil
	}
	c := &compare.Lists{View: w.servedView()}
	if d := w.plan.delta; d != nil {
		return c, w.compareListsOfDelta(ctx, c)
	}
	handles := make([]uint32, w.served.Release.Ordinals)
	for i := range handles {
		handles[i] = math.MaxUint32 // gone
	}
	for handle, was := range w.before {
		if was.Published != 0 { // the served release shows it
			handles[was.Ordinal] = uint32(handle)
		}
	}
	c.Was = func(ordinal uint32) uint32 { return handles[ordinal] }
	c.Is = func(ordinal uint32) uint32 { return w.plan.order[ordinal] }
	return c, nil
}

// compareListsOfDelta sets c.Was and c.Is for a delta. The number of a product is its ordinal in the parent. Products that the
// parent does not have get numbers downwards from the highest.
func (w *releaseWriter) compareListsOfDelta(ctx context.Context, c *compare.Lists) error {
	p, d := w.plan, w.plan.delta
	if d.parent.Same(w.served.Release) {
		c.Was = func(ordinal uint32) uint32 { return ordinal }
		c.Is = func(ordinal uint32) uint32 {
			if int(ordinal) < p.first {
				return ordinal
			}
			handle := p.order[int(ordinal)-p.first]
			if ordinal := d.parentOrdinals[handle]; ordinal >= 0 {
				return uint32(ordinal)
			}
			return math.MaxUint32 - handle
		}
		return nil
	}
	// The served release shares some layers with the parent, or none with an unserved base.
	ids, err := d.view.AllIDs(ctx)
	if err != nil {
		return err
	}
	servedIDs, err := c.View.AllIDs(ctx)
	if err != nil {
		return err
	}
	numbers := map[string]uint32{}
	for _, layer := range d.parent.Layers() { // of several versions of a product the last, which is not dead
		for ordinal := layer.First; ordinal < layer.End; ordinal++ {
			numbers[ids.At(uint32(ordinal))] = uint32(ordinal)
		}
	}
	number := func(id string) uint32 {
		if _, known := numbers[id]; !known {
			numbers[id] = math.MaxUint32 - uint32(len(numbers))
		}
		return numbers[id]
	}
	c.Was = func(ordinal uint32) uint32 { return number(servedIDs.At(ordinal)) }
	c.Is = func(ordinal uint32) uint32 {
		if int(ordinal) < p.first {
			return number(ids.At(ordinal))
		}
		return number(p.ids.At(p.order[int(ordinal)-p.first]))
	}
	return nil
}
