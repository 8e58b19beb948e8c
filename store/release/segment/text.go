package segment

import (
	"context"
	"encoding/binary"

	"portico/store"
	"portico/store/index"
)

// The names of the chunks of a release that hold the ids of its products, and their names in the base language, by
// ordinal.
const (
	ListIDs   = "ids"
	ListNames = "names"
)

// AppendText appends a text after its length, as all parts of releases have texts.
func AppendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// cutText splits off a text that AppendText wrote.
func cutText(body []byte) (text, rest []byte) {
	n, at := binary.Uvarint(body)
	return body[at : at+int(n)], body[at+int(n):]
}

// unpackTexts decodes texts that AppendText appended to each other.
func unpackTexts(body []byte) (texts []string) {
	for len(body) > 0 {
		var text []byte
		text, body = cutText(body)
		texts = append(texts, string(text))
	}
	return texts
}

// TextChunk is a text of each product of a chunk, by position in the chunk.
type TextChunk struct {
	texts string   // one after the other
	ends  []uint32 // in texts, of each
}

// Size is about the memory in bytes.
func (c TextChunk) Size() int { return index.EmptyChunk + len(c.texts) + 4*len(c.ends) }

// PackTexts encodes a TextChunk.
func PackTexts(list []string) (body []byte) {
	for _, text := range list {
		body = AppendText(body, text)
	}
	return body
}

// unpackTextChunk decodes what PackTexts encoded.
func unpackTextChunk(body []byte) (c TextChunk) {
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

// Texts are a text of each product of a release, by ordinal.
type Texts []TextChunk

// At returns the text of a product, which shares the memory of the chunk.
func (t Texts) At(ordinal uint32) string {
	c := &t[ordinal/ChunkSize]
	start, at := uint32(0), ordinal%ChunkSize
	if at > 0 {
		start = c.ends[at-1]
	}
	return c.texts[start:c.ends[at]]
}

// AllIDs returns the ids of all products, by ordinal.
func (r *Reader) AllIDs(ctx context.Context) (Texts, error) {
	r.Reads.Add(AnyProduct)
	return r.allTexts(ctx, ListIDs)
}

// AllNames returns the names of all products in the base language, by ordinal. Publications use it.
func (r *Reader) AllNames(ctx context.Context) (Texts, error) {
	return r.allTexts(ctx, ListNames)
}

// allTexts reads the chunks of ListIDs or ListNames of all layers.
func (r *Reader) allTexts(ctx context.Context, list string) (Texts, error) {
	texts, err := chunksOfAll(ctx, r, list, []store.SortBy{""}, unpackTextChunk)
	return texts[""], err
}

// IDsAt returns the ids of the products at some ordinals, in their order. It reads the chunks from the first to the last of
// them in each layer.
func (r *Reader) IDsAt(ctx context.Context, ordinals []uint32) ([]string, error) {
	var ranges []ChunkRange
	of := map[int64]int{} // indexes of ranges, by layer
	for _, ordinal := range ordinals {
		layer, number := r.Release.holder(int(ordinal)), int(ordinal)/ChunkSize
		at, known := of[layer]
		if !known {
			at, of[layer] = len(ranges), len(ranges)
			ranges = append(ranges, ChunkRange{KeptList{heldBy: layer, name: ListIDs}, number, number})
		}
		ranges[at].First, ranges[at].Last = min(ranges[at].First, number), max(ranges[at].Last, number)
	}
	found, err := ChunksOf(ctx, r, ranges, unpackTextChunk)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(ordinals))
	for i, ordinal := range ordinals {
		list := ranges[of[r.Release.holder(int(ordinal))]]
		chunk := found[list.KeptList][int(ordinal)/ChunkSize-list.First]
		if int(ordinal%ChunkSize) >= len(chunk.ends) {
			return nil, ErrGone
		}
		ids[i] = Texts{chunk}.At(ordinal % ChunkSize)
	}
	r.Reads.AddNames(productKind, ids)
	return ids, nil
}
