// Package index provides the data structures by which products are found: packed lists of
// ordinals and keys, hashed attribute values, collation and search words. Its main types are
// Ordinals, OrdinalSet, PackedHashes, Posting, Search and Matches; Match finds and ranks what
// a search matches. It is pure and may import only store.
package index
