package release

import (
	"context"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/segment"
)

// Variants is whether a list shows parents or their children.
type Variants string

// The ways to list variants. Other products are listed in any case.
const (
	VariantsAsListed Variants = ""         // as they are attached
	VariantsParents  Variants = "parents"  // each child's parent instead, once
	VariantsChildren Variants = "children" // the live children of each parent instead
)

// exchange replaces the children of the list by their parents, or the parents by their children, and caches the result.
// The filter and the order apply to the products that the list shows then.
func (o *resultOrder) exchange(ctx context.Context, variants Variants) error {
	if variants == VariantsAsListed {
		return nil
	}
	o.Reads.Add(segment.AnyProduct)
	families, err := o.Families(ctx)
	if err != nil {
		return err
	}
	replace := childrenOf(families)
	if variants == VariantsParents {
		replace, o.grouped = parentOf(families), families
	}
	name := cachekey.Join(o.listKey(), cachekey.New(string(variants)))
	curated := store.Unique(replaceAll(o.list.Head.Curated, replace))
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedFilter, Name: name}
	if kept, ok := db.Cached[index.Ordinals](o.Cache, key); ok {
		o.setMembers(name, kept, curated)
		return nil
	}
	members := o.named
	if members == nil {
		if members, err = o.list.Members(ctx); err != nil {
			return err
		}
	}
	shown := index.Ordinals(replaceAll(members, replace))
	if err := store.Charge(ctx, filteredWork*(len(members)+len(shown))); err != nil {
		return err
	}
	slices.Sort(shown)
	shown = slices.Clip(slices.Compact(shown))
	o.Cache.Set(key, shown)
	o.setMembers(name, shown, curated)
	return nil
}

// childrenOf returns a function that appends the children of a product, or the product if it is no parent.
func childrenOf(f *segment.Families) func(dst []uint32, ordinal uint32) []uint32 {
	return func(dst []uint32, ordinal uint32) []uint32 {
		if children, isParent := f.Children(ordinal); isParent {
			return append(dst, children...)
		}
		return append(dst, ordinal)
	}
}
