package index

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sort"
)

// An attribute's index consists of chunks of sorted entries: the first 12 bytes of the
// value's SHA-256, and the ordinal of a product with that value. 96 bits make collisions
// within a shop practically impossible. A million entries take 16 MB; with the values
// themselves they took 130.
const (
	IndexHash  = 12
	IndexEntry = IndexHash + 4
)

// HashValue returns the hash by which a value is found.
func HashValue(value string) [IndexHash]byte {
	sum := sha256.Sum256([]byte(value))
	return [IndexHash]byte(sum[:IndexHash])
}

// NewEntry returns an index entry, which sorts by hash, then ordinal.
func NewEntry(value string, ordinal uint32) (entry [IndexEntry]byte) {
	hash := HashValue(value)
	copy(entry[:], hash[:])
	binary.BigEndian.PutUint32(entry[IndexHash:], ordinal)
	return entry
}

// PackedHashes is a directory, or a stored chunk.
type PackedHashes []byte

// Size is about the memory in bytes.
func (p PackedHashes) Size() int { return 24 + len(p) }

// Starts returns how many chunks of a directory start below a hash, or at it if orAt is true.
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

// search returns the index of the first entry for which a monotonic condition holds.
func (p PackedHashes) search(holds func(entry []byte) bool) int {
	return sort.Search(len(p)/IndexEntry, func(i int) bool { return holds(p[i*IndexEntry : (i+1)*IndexEntry]) })
}

// place returns the ordinal of an entry.
func (p PackedHashes) place(i int) uint32 {
	return binary.BigEndian.Uint32(p[i*IndexEntry+IndexHash:])
}
