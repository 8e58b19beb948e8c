// Package index is how products are found by what they have: packed lists of
// ordinals and keys, hashes of values, the order of names, and the words of
// texts. It is pure: it knows no database and no shop, and may import the words
// of store alone.
package index
