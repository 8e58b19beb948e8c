// Package dependency tracks what cached responses were made from, so that a change makes only
// those responses invalid that it touches. A Recorder collects the Keys of all that was read for
// a response, a History knows when each key last changed, and Dependencies tell whether a
// response still holds. It must not import the store or the APIs.
package dependency

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Key is a hash of the kind and the name of something that responses are made from. If two names
// have one key, some responses are made again without need; no response is wrong.
type Key uint64

// NewKey returns the key of a name. It is the same on all servers.
func NewKey(kind byte, name string) Key {
	return Key(xxhash.Sum64String(name)*0x9e3779b97f4a7c15 + uint64(kind))
}

// Changes are the keys that differ between two states of the data. The zero value is no change.
type Changes struct {
	keys       map[Key]struct{}
	everything bool // all keys; the map is nil then
}

// MaxChanges is the largest number of keys of Changes. More count as AddEverything.
const MaxChanges = 1 << 16

// Add adds keys.
func (c *Changes) Add(keys ...Key) {
	if c.everything {
		return
	}
	if c.keys == nil {
		c.keys = map[Key]struct{}{}
	}
	for _, key := range keys {
		c.keys[key] = struct{}{}
	}
	if len(c.keys) > MaxChanges {
		c.AddEverything()
	}
}

// AddEverything makes all keys differ.
func (c *Changes) AddEverything() { c.keys, c.everything = nil, true }

// Everything reports whether all keys differ.
func (c *Changes) Everything() bool { return c.everything }

// Has reports whether a key differs.
func (c *Changes) Has(key Key) bool {
	_, found := c.keys[key]
	return found || c.everything
}

// Empty reports whether nothing differs.
func (c *Changes) Empty() bool { return !c.everything && len(c.keys) == 0 }

// Keys returns the keys that differ, in order; false if there are more than atMost, or all differ.
func (c *Changes) Keys(atMost int) ([]Key, bool) {
	if c.everything || len(c.keys) > atMost {
		return nil, false
	}
	return slices.Sorted(maps.Keys(c.keys)), true
}

// AddAll adds other changes.
func (c *Changes) AddAll(other *Changes) {
	if other.everything {
		c.AddEverything()
	}
	for key := range other.keys {
		c.Add(key)
	}
}

// The first byte of packed changes.
const (
	packedEverything = 0
	packedKeys       = 1 // 8 bytes each, in order, big-endian
)

// Pack returns the changes in the form that UnpackChanges reads.
func (c *Changes) Pack() []byte {
	if c.everything {
		return []byte{packedEverything}
	}
	packed := append(make([]byte, 0, 1+8*len(c.keys)), packedKeys)
	for _, key := range slices.Sorted(maps.Keys(c.keys)) {
		packed = binary.BigEndian.AppendUint64(packed, uint64(key))
	}
	return packed
}

// UnpackChanges reads packed changes. A form that this version does not know is everything.
func UnpackChanges(packed []byte) (*Changes, error) {
	c := &Changes{}
	if len(packed) == 0 || packed[0] != packedKeys {
		c.AddEverything()
		return c, nil
	}
	packed = packed[1:]
	if len(packed)%8 != 0 {
		return nil, errors.New("dependency: the changes are cut off")
	}
	for ; len(packed) > 0; packed = packed[8:] {
		c.Add(Key(binary.BigEndian.Uint64(packed)))
	}
	return c, nil
}
