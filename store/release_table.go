package store

// releaseTable holds a part of releases, by release_id and a key of its own.
type releaseTable struct {
	name string
	key  string // the columns after release_id
}

// releaseTables are all of them. A release is dropped from them in this order.
var releaseTables = []releaseTable{
	{"release_product", "ordinal"}, {"release_place", "product_id"}, {"release_price", "ordinal, currency"}, {"release_sale", "currency, ordinal"}, {"release_node", "ordinal"},
	{"release_file", "file_id"}, {"release_list", "list"}, {"release_chunk", "list, sort, chunk"},
	{"release_index", "attribute, chunk"}, {"release_word", "chunk"}, {"release_facet", "attribute, chunk"},
}
