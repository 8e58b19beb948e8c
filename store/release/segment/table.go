package segment

import (
	"fmt"
)

// table holds a part of each release.
type table struct {
	Name string
	Key  string // its columns after release_id; its whole key if it has no release_id
}

// Tables are all tables that hold parts of releases, in the order in which a
// release is deleted from them.
var Tables = []table{
	{"release_block", "id"}, {"release_place", "product_id"}, {"release_sale", "currency, ordinal"}, {"release_node", "ordinal"},
	{"release_file", "file_id"}, {"release_list", "list"}, {"release_chunk", "list, sort, chunk"},
	{"release_index", "attribute, chunk"}, {"release_word", "chunk"}, {"release_facet", "attribute, chunk"}, {"release_change", "against_id"},
}

// Owned returns the SQL condition for the rows of release $1.
func (t table) Owned() string {
	if t.Key == "id" { // a RowID, which begins with the release's number
		return fmt.Sprintf("id >= $1 * %[1]d AND id < ($1 + 1) * %[1]d", RowID(1, 0))
	}
	return "release_id = $1"
}

// Owner returns the SQL expression for the release of a row.
func (t table) Owner() string {
	if t.Key == "id" {
		return fmt.Sprintf("%s.id / %d", t.Name, RowID(1, 0))
	}
	return t.Name + ".release_id"
}
