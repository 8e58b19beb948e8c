package publish

import (
	"context"

	"portico/store/index"
	"portico/store/release/segment"
)

// families writes the live children of the release's own parents (segment.ListChildren).
func (w *releaseWriter) families(ctx context.Context) error {
	p := w.plan
	rows := [][]any{{w.release.ID, segment.ListChildren, "", 0, []byte{}}} // also without a parent
	var packed []uint32
	end := func() {
		if len(packed) > 0 {
			rows = append(rows, []any{w.release.ID, segment.ListChildren, "", len(rows), index.PackOrdinals(packed)})
			packed = packed[:0]
		}
	}
	for _, handle := range p.order {
		children := p.children.Of(handle)
		if len(children) == 0 {
			continue
		}
		packed = append(append(packed, uint32(p.ordinals[handle]), uint32(len(children))), w.toOrdinals(children)...)
		if len(packed) >= segment.ChunkSize {
			end()
		}
	}
	end()
	return w.put(ctx, "release_chunk", rows...)
}

// ids writes the ids of the release's own products, by ordinal.
func (w *releaseWriter) ids(ctx context.Context) error {
	ids := make([]string, len(w.plan.order))
	for i, handle := range w.plan.order {
		ids[i] = w.plan.ids.At(handle)
	}
	return w.put(ctx, "release_chunk", chunkRows(w.release.ID, segment.ListIDs, "", w.plan.first/segment.ChunkSize, ids, segment.PackTexts)...)
}
