package publish

import (
	"context"

	"portico/store/catalog"
	"portico/store/release/segment"
)

// required returns what a bundle cannot be bought without, as segment.ListRequired has it.
func (p *publicationPlan) required(source *catalog.ProductSource) (list []uint32) {
	for _, key := range source.Attributes.ComponentKeys() {
		component := source.Attributes.Components[key]
		if component.Min < 1 {
			continue
		}
		count := len(list) + 1
		list = append(list, uint32(component.Min), 0)
		for _, option := range component.Options {
			if handle, live := p.ids.Find(option.ID); live && p.ordinals[handle] >= 0 {
				list = append(list, uint32(p.ordinals[handle]), uint32(max(1, option.Quantity)))
				list[count]++
			}
		}
	}
	return list
}

// addFamily adds the children of a parent, of which there may be none, and what a bundle requires.
func (w *releaseWriter) addFamily(product *builtProduct) {
	children := w.plan.children.Of(w.plan.order[product.ordinal-w.plan.first])
	if len(children) > 0 || product.source.Attributes.BaseProduct {
		w.children.add(product.ordinal, w.toOrdinals(children))
	}
	if len(product.required) > 0 {
		w.required.add(product.ordinal, product.required)
	}
}

// families writes segment.ListChildren and segment.ListRequired.
func (w *releaseWriter) families(ctx context.Context) error {
	return w.put(ctx, "release_chunk", append(w.children.rows(w.release.ID, segment.ListChildren), w.required.rows(w.release.ID, segment.ListRequired)...)...)
}

// ids writes the ids of the release's own products, by ordinal.
func (w *releaseWriter) ids(ctx context.Context) error {
	ids := make([]string, len(w.plan.order))
	for i, handle := range w.plan.order {
		ids[i] = w.plan.ids.At(handle)
	}
	return w.put(ctx, "release_chunk", chunkRows(w.release.ID, segment.ListIDs, "", w.plan.first/segment.ChunkSize, ids, segment.PackTexts)...)
}
