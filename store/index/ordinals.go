package index

import "encoding/binary"

// Ordinals are positions of products in a release: 0 is the product that was updated last. Products
// updated at the same time are ordered by id.
type Ordinals []uint32

// Size is about the memory in bytes.
func (o Ordinals) Size() int { return EmptyChunk + 4*len(o) }

// FilterKeys removes ordinals whose key is not between two, both inclusive, or that have none, in place. keys are by ordinal.
func (o Ordinals) FilterKeys(keys []int64, low, high int64) Ordinals {
	n := 0
	for _, ordinal := range o {
		if int(ordinal) < len(keys) && keys[ordinal] >= low && keys[ordinal] <= high {
			o[n] = ordinal
			n++
		}
	}
	return o[:n]
}

// Keys are the sort keys of products, by ordinal: microseconds, or the rank of the id.
type Keys []int64

// Size is about the memory in bytes.
func (k Keys) Size() int { return EmptyChunk + 8*len(k) }

// PackOrdinals encodes a chunk, four bytes an ordinal. Releases store these forms: a change needs another ReleaseFormat.
func PackOrdinals(list []uint32) []byte {
	body := make([]byte, 0, 4*len(list))
	for _, n := range list {
		body = binary.LittleEndian.AppendUint32(body, n)
	}
	return body
}

// UnpackOrdinals decodes a chunk.
func UnpackOrdinals(body []byte) Ordinals {
	list := make(Ordinals, len(body)/4)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(body[4*i:])
	}
	return list
}

// PackKeys encodes a chunk, eight bytes a key.
func PackKeys(list []int64) []byte {
	body := make([]byte, 0, 8*len(list))
	for _, n := range list {
		body = binary.LittleEndian.AppendUint64(body, uint64(n))
	}
	return body
}

// UnpackKeys decodes a chunk.
func UnpackKeys(body []byte) Keys {
	list := make(Keys, len(body)/8)
	for i := range list {
		list[i] = int64(binary.LittleEndian.Uint64(body[8*i:]))
	}
	return list
}

// EmptyChunk is the Size of an empty chunk, in bytes: that of a slice header. A chunk that was not found is empty too.
const EmptyChunk = 24
