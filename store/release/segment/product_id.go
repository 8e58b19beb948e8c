package segment

import (
	"context"
	"math"

	"portico/store"
	"portico/store/index"
)

// ListIDs is the name of the chunks of a release that hold the ids of its products, by ordinal.
const ListIDs = "ids"

// IDChunk is the ids of the products of a chunk.
type IDChunk struct {
	texts string // the ids, one after the other
	ends  []uint32
}

// Size is about the memory in bytes.
func (c IDChunk) Size() int { return index.EmptyChunk + len(c.texts) + 4*len(c.ends) }

// PackIDs encodes a chunk of ids.
func PackIDs(ids []string) (body []byte) {
	for _, id := range ids {
		body = AppendText(body, id)
	}
	return body
}

func unpackIDs(body []byte) (c IDChunk) {
	var texts []byte
	for len(body) > 0 {
		var text []byte
		text, body = cutText(body)
		texts = append(texts, text...)
		c.ends = append(c.ends, uint32(len(texts)))
	}
	c.texts = string(texts)
	return c
}

// IDs are the ids of all products of a release, by ordinal.
type IDs []IDChunk

// At returns the id of a product, which shares the memory of the chunk.
func (ids IDs) At(place uint32) string {
	c := &ids[place/ChunkSize]
	start, at := uint32(0), place%ChunkSize
	if at > 0 {
		start = c.ends[at-1]
	}
	return c.texts[start:c.ends[at]]
}

// AllIDs returns the ids of all products, by ordinal. UNPROCESSABLE if a version that stored none published the release.
func (r *Reader) AllIDs(ctx context.Context) (IDs, error) {
	r.Reads.Add(AnyProduct)
	if r.Release.Format < FormatOfFamilies {
		return nil, r.missing(ctx, "list of ids")
	}
	below, err := r.idsFrom(ctx, r.Release.BaseID, 0, r.Release.FirstOrdinal)
	if err != nil {
		return nil, err
	}
	own, err := r.idsFrom(ctx, r.Release.ID, r.Release.FirstOrdinal, r.Release.Ordinals)
	return append(below, own...), err
}

// IDsAt returns the ids of the products at some ordinals, in their order. It reads the chunks from the first to the last of them.
func (r *Reader) IDsAt(ctx context.Context, places []uint32) ([]string, error) {
	ids := make([]string, len(places))
	for _, layer := range r.layers() {
		first, end := math.MaxInt, 0
		holds := func(place uint32) bool {
			return int(place) >= layer.Release.FirstOrdinal && int(place) < layer.Release.Ordinals
		}
		for _, place := range places {
			if holds(place) {
				first, end = min(first, int(place)/ChunkSize*ChunkSize), max(end, int(place)+1)
			}
		}
		if end == 0 {
			continue
		}
		chunks, err := r.idsFrom(ctx, layer.Release.ID, first, end)
		if err != nil {
			return nil, err
		}
		for i, place := range places {
			if holds(place) {
				ids[i] = chunks.At(place - uint32(first))
			}
		}
	}
	r.Reads.AddNames(productKind, ids)
	return ids, nil
}

// idsFrom is keysFrom for ids.
func (r *Reader) idsFrom(ctx context.Context, release int64, start, end int) (IDs, error) {
	if start == end {
		return nil, nil
	}
	return readChunks(ctx, r, KeptList{release, ListIDs}, store.SortBy(""), start/ChunkSize, (end-1)/ChunkSize, unpackIDs)
}
