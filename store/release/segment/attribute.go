package segment

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"portico/internal/cachekey"
	"portico/internal/dependency"
	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// The indexes and facets of options and of attributes of one's own. Their values are made by NamedValue.
const (
	OptionValues    = "option"    // by the name of the variation
	AttributeValues = "attribute" // by the key of the attribute
)

// NamedValue returns a value of OptionValues or AttributeValues.
func NamedValue(name, value string) string { return name + NameEnd + value }

// NameEnd ends the name in a NamedValue.
const NameEnd = "\x00"

// ListAttributes is the name of the list whose only chunk holds the declarations of attributes, as JSON.
// Only whole releases have it.
const ListAttributes = "attributes"

// AnyAttribute is the key of the declarations of attributes.
var AnyAttribute = dependency.NewKey('A', "")

// SortOfAttribute returns the name of the sort keys that hold the values of an attribute, as
// catalog.AttributeValue.Order. Chunks in which no product has a value are not stored.
func SortOfAttribute(key string) store.SortBy {
	return store.SortAttribute + "/" + store.SortBy(key)
}

// AttributeOfSort returns the attribute of SortOfAttribute; ok is false for another sort key.
func AttributeOfSort(by store.SortBy) (key string, ok bool) {
	return strings.CutPrefix(string(by), string(SortOfAttribute("")))
}

// Attributes are the declarations of attributes, in the order of their first import.
type Attributes []*catalog.AttributeSource

func (a Attributes) Size() int {
	n := 24
	for _, attribute := range a {
		n += 256 + len(attribute.ID) + len(attribute.Attributes.Label)
		for _, label := range attribute.Attributes.Labels {
			n += 64 + len(label)
		}
	}
	return n
}

// Get returns a declaration, or nil.
func (a Attributes) Get(key string) *catalog.AttributeSource {
	for _, attribute := range a {
		if attribute.ID == key {
			return attribute
		}
	}
	return nil
}

// Attributes reads the declarations of attributes.
func (r *Reader) Attributes(ctx context.Context) (Attributes, error) {
	r.Reads.Add(AnyAttribute)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedAttributes}
	if kept, ok := db.Cached[Attributes](r.Cache, key); ok {
		return kept, nil
	}
	body, found, err := db.One(ctx, r.session(), db.Scalar[[]byte],
		`SELECT body FROM release_chunk WHERE release_id = $1 AND list = $2 AND sort = '' AND chunk = 0`, cmp.Or(r.Release.BaseID, r.Release.ID), ListAttributes)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrGone
	}
	var attributes Attributes
	if err := json.Unmarshal(body, &attributes); err != nil {
		return nil, err
	}
	r.Cache.Set(key, attributes)
	return attributes, nil
}

// Orders are the values of an attribute by ordinal, catalog.NoOrder for a product without one.
type Orders []int64

func (o Orders) Size() int { return 24 + 8*len(o) }

// Orders reads the values of an attribute of all products, as catalog.AttributeValue.Order.
func (r *Reader) Orders(ctx context.Context, attribute string) (Orders, error) {
	r.Reads.Add(AnyProduct)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedOrders, Name: cachekey.New(attribute)}
	if kept, ok := db.Cached[Orders](r.Cache, key); ok {
		return kept, nil
	}
	orders, _, err := r.sparseKeys(ctx, SortOfAttribute(attribute), catalog.NoOrder)
	if err != nil {
		return nil, err
	}
	if _, err := KeptRelease(ctx, r.db.Reader, r.Release.ID); err != nil {
		return nil, ErrGone // some chunks may have been deleted
	}
	r.Cache.Set(key, Orders(orders))
	return orders, nil
}
