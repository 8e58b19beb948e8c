package shop

import "fmt"

// releaseTable holds a part of releases.
type releaseTable struct {
	name string
	key  string // its columns after release_id, or all of it where it has none
}

// releaseTables are all of them. A release is dropped from them in this order.
var releaseTables = []releaseTable{
	{"release_product", "ordinal"}, {"release_row", "id"}, {"release_place", "product_id"}, {"release_sale", "currency, ordinal"}, {"release_node", "ordinal"},
	{"release_file", "file_id"}, {"release_list", "list"}, {"release_chunk", "list, sort, chunk"},
	{"release_index", "attribute, chunk"}, {"release_word", "chunk"}, {"release_facet", "attribute, chunk"},
}

// owned says which rows are those of release $1.
func (t releaseTable) owned() string {
	if t.key == "id" { // rowID, which begins with the release's number
		return fmt.Sprintf("id >= $1 * %[1]d AND id < ($1 + 1) * %[1]d", rowID(1, 0))
	}
	return "release_id = $1"
}

// ordered is the columns that its rows have an order by.
func (t releaseTable) ordered() string {
	if t.key == "id" {
		return t.key
	}
	return "release_id, " + t.key
}
