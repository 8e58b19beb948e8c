package release

import "fmt"

// releaseTable holds a part of releases.
type releaseTable struct {
	Name string
	Key  string // its columns after release_id, or all of it where it has none
}

// ReleaseTables are all of them. A release is dropped from them in this order.
var ReleaseTables = []releaseTable{
	{"release_product", "ordinal"}, {"release_row", "id"}, {"release_place", "product_id"}, {"release_sale", "currency, ordinal"}, {"release_node", "ordinal"},
	{"release_file", "file_id"}, {"release_list", "list"}, {"release_chunk", "list, sort, chunk"},
	{"release_index", "attribute, chunk"}, {"release_word", "chunk"}, {"release_facet", "attribute, chunk"},
}

// Owned says which rows are those of release $1.
func (t releaseTable) Owned() string {
	if t.Key == "id" { // RowID, which begins with the release's number
		return fmt.Sprintf("id >= $1 * %[1]d AND id < ($1 + 1) * %[1]d", RowID(1, 0))
	}
	return "release_id = $1"
}
