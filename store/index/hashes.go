package index

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sort"
)

// The index of an attribute consists of chunks of sorted entries. An entry is the first HashSize
// bytes of the SHA-256 of a value, and the ordinal of a product with that value. Collisions of 96
// bits within a shop are practically impossible. A million entries take 16 MB; with the values
// instead of hashes they took 130 MB.
const (
	HashSize  = 12
	EntrySize = HashSize + 4
)

// Hash returns the hash of a value.
func Hash(value string) [HashSize]byte {
	sum := sha256.Sum256([]byte(value))
	return [HashSize]byte(sum[:HashSize])
}

// NewEntry returns an index entry, which sorts by hash, then ordinal.
func NewEntry(value string, ordinal uint32) (entry [EntrySize]byte) {
	hash := Hash(value)
	copy(entry[:], hash[:])
	binary.BigEndian.PutUint32(entry[HashSize:], ordinal)
	return entry
}

// PackedHashes is a stored chunk of entries, or the directory of an index: the first hash of each
// chunk.
type PackedHashes []byte

// Size is about the memory in bytes.
func (p PackedHashes) Size() int { return 24 + len(p) }

// ChunksBefore returns how many chunks of a directory start below a hash, or also at it if orAt is set.
func (p PackedHashes) ChunksBefore(hash [HashSize]byte, orAt bool) int {
	return sort.Search(len(p)/HashSize, func(i int) bool {
		order := bytes.Compare(p[i*HashSize:(i+1)*HashSize], hash[:])
		return order > 0 || order == 0 && !orAt
	})
}

// Find returns the entries of a chunk with a hash.
func (p PackedHashes) Find(hash [HashSize]byte) PackedHashes {
	start := p.search(func(entry []byte) bool { return bytes.Compare(entry[:HashSize], hash[:]) >= 0 })
	rest := p[start*EntrySize:]
	return rest[:EntrySize*rest.search(func(entry []byte) bool { return !bytes.Equal(entry[:HashSize], hash[:]) })]
}

// search returns the index of the first entry for which holds returns true. It must then be true for
// all later entries.
func (p PackedHashes) search(holds func(entry []byte) bool) int {
	return sort.Search(len(p)/EntrySize, func(i int) bool { return holds(p[i*EntrySize : (i+1)*EntrySize]) })
}

// ordinal returns the ordinal of entry i.
func (p PackedHashes) ordinal(i int) uint32 {
	return binary.BigEndian.Uint32(p[i*EntrySize+HashSize:])
}
