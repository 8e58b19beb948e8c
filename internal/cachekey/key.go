// Package cachekey makes the names of what depends on several texts: entries of caches, lists, and the lists that
// cursors belong to. A Key has its parts with their lengths, so that two keys are the same only if all their parts are,
// whatever the texts contain. It imports no other package of ours.
package cachekey

import (
	"crypto/sha256"
	"encoding/binary"
)

// Key is the name that parts make. Only this package makes keys, so that the compiler rejects one that is joined by
// hand. The zero value is New("").
type Key struct {
	text   string
	joined bool // text has several parts, or none, each with its length; else it is the only part, without
}

// New returns the key of parts. The key of a single part does not allocate.
func New(parts ...string) Key {
	if len(parts) == 1 {
		return Key{text: parts[0]}
	}
	var space [256]byte
	buf := space[:0]
	for _, part := range parts {
		buf = AppendPart(buf, part)
	}
	return Of(buf)
}

// Join returns the key whose parts are keys. A key of a single part is the same part as its text.
func Join(parts ...Key) Key {
	var space [256]byte
	buf := space[:0]
	for _, part := range parts {
		buf = AppendKey(buf, part)
	}
	return Of(buf)
}

// Each returns the key whose parts are the keys of items.
func Each[T any](items []T, key func(T) Key) Key {
	keys := make([]Key, len(items))
	for i, item := range items {
		keys[i] = key(item)
	}
	return Join(keys...)
}

// AppendPart appends a part of a key that is made in a buffer: Of returns the key of all parts in it.
func AppendPart[T string | []byte](dst []byte, part T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(part))<<1), part...)
}

// AppendKey is AppendPart for a key as one part.
func AppendKey(dst []byte, part Key) []byte {
	head := uint64(len(part.text)) << 1 // the lowest bit is 1 for a key of several parts, and 0 for one text
	if part.joined {
		head |= 1
	}
	return append(binary.AppendUvarint(dst, head), part.text...)
}

// AppendInt is AppendPart for a number.
func AppendInt(dst []byte, n int64) []byte {
	var digits [binary.MaxVarintLen64]byte
	return AppendPart(dst, binary.AppendVarint(digits[:0], n))
}

// Of returns the key of the parts in a buffer.
func Of(parts []byte) Key { return Key{string(parts), true} }

// Text returns the only part of a key; empty if it has several.
func (k Key) Text() string {
	if k.joined {
		return ""
	}
	return k.text
}

// Size is the memory of the key in bytes, without the struct.
func (k Key) Size() int { return len(k.text) }

// DigestBytes is the size of a Digest.
const DigestBytes = 8

// Digest is a hash of the key, the same on all servers.
func (k Key) Digest() (d [DigestBytes]byte) {
	var space [256]byte
	sum := sha256.Sum256(AppendKey(space[:0], k))
	copy(d[:], sum[:])
	return d
}
