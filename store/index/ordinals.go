package index

import "encoding/binary"

// Ordinals are places of products in a release: 0 is the product updated
// last, ties by id.
type Ordinals []uint32

// Size is about how many bytes they take; EmptyChunk for none.
func (o Ordinals) Size() int { return EmptyChunk + 4*len(o) }

// Keys are sort keys by ordinal: microseconds, or the rank of the id.
type Keys []int64

// Size is about how many bytes they take; EmptyChunk for none.
func (k Keys) Size() int { return EmptyChunk + 8*len(k) }

// PackOrdinals writes them as a chunk is kept: four bytes each.
func PackOrdinals(list []uint32) []byte {
	body := make([]byte, 0, 4*len(list))
	for _, n := range list {
		body = binary.LittleEndian.AppendUint32(body, n)
	}
	return body
}

// UnpackOrdinals reads a chunk.
func UnpackOrdinals(body []byte) Ordinals {
	list := make(Ordinals, len(body)/4)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(body[4*i:])
	}
	return list
}

// PackKeys writes them as a chunk is kept: eight bytes each.
func PackKeys(list []int64) []byte {
	body := make([]byte, 0, 8*len(list))
	for _, n := range list {
		body = binary.LittleEndian.AppendUint64(body, uint64(n))
	}
	return body
}

// UnpackKeys reads a chunk.
func UnpackKeys(body []byte) Keys {
	list := make(Keys, len(body)/8)
	for i := range list {
		list[i] = int64(binary.LittleEndian.Uint64(body[8*i:]))
	}
	return list
}

// EmptyChunk is the size of a part that a list does not have.
const EmptyChunk = 24
