package index

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sort"
)

// An attribute's index is kept as chunks of entries that are sorted: the
// first 12 bytes of the value's SHA-256, and the ordinal of a product that has
// the value. At 96 bits two values of one shop do not share a hash; a million
// entries take 16 MB, where rows with the values themselves took 130.
const (
	IndexHash  = 12
	IndexEntry = IndexHash + 4
)

// HashValue is what a value is found by.
func HashValue(value string) [IndexHash]byte {
	sum := sha256.Sum256([]byte(value))
	return [IndexHash]byte(sum[:IndexHash])
}

// NewEntry makes an index entry that sorts by hash, then ordinal.
func NewEntry(value string, ordinal uint32) (entry [IndexEntry]byte) {
	hash := HashValue(value)
	copy(entry[:], hash[:])
	binary.BigEndian.PutUint32(entry[IndexHash:], ordinal)
	return entry
}

// PackedHashes is a directory, or a chunk as it is kept.
type PackedHashes []byte

// Size is about how many bytes they take.
func (p PackedHashes) Size() int { return 24 + len(p) }

// Starts is how many chunks of a directory begin below a hash, or at it too.
func (p PackedHashes) Starts(hash [IndexHash]byte, orAt bool) int {
	return sort.Search(len(p)/IndexHash, func(i int) bool {
		order := bytes.Compare(p[i*IndexHash:(i+1)*IndexHash], hash[:])
		return order > 0 || order == 0 && !orAt
	})
}

// Find returns the entries under a hash in a chunk.
func (p PackedHashes) Find(hash [IndexHash]byte) PackedHashes {
	at := p.search(func(entry []byte) bool { return bytes.Compare(entry[:IndexHash], hash[:]) >= 0 })
	rest := p[at*IndexEntry:]
	return rest[:IndexEntry*rest.search(func(entry []byte) bool { return !bytes.Equal(entry[:IndexHash], hash[:]) })]
}

// search is the first entry from which on a condition holds.
func (p PackedHashes) search(holds func(entry []byte) bool) int {
	return sort.Search(len(p)/IndexEntry, func(i int) bool { return holds(p[i*IndexEntry : (i+1)*IndexEntry]) })
}

// place is the product of an entry.
func (p PackedHashes) place(i int) uint32 {
	return binary.BigEndian.Uint32(p[i*IndexEntry+IndexHash:])
}
