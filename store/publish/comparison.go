package publish

import (
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// releaseSide is one of two releases that are compared: a stored one, or the one that a publication makes. Its maps leave
// out what the release does not show.
type releaseSide interface {
	release() *segment.Release
	versions(ctx context.Context, ids []string) (map[string]productVersion, error)
	// foundBy returns what products are found by, by id.
	foundBy(ctx context.Context, ids []string) (map[string]foundBy, error)
	// shown returns all that the release shows of products, by id.
	shown(ctx context.Context, ids []string) (map[string]*shownProduct, error)
	tree(context.Context) (*segment.Tree, error)
	// curated returns the ids of the products that come first in nodes, by node.
	curated(context.Context, []*segment.CatalogNode) (map[string][]string, error)
	// files returns the JSON of files, by id.
	files(ctx context.Context, ids []string) (map[string]string, error)
	attributes(context.Context) (segment.Attributes, error)
}

// productVersion is a hash of what a release shows of a product, since when it shows that, in microseconds, and the
// product's ordinal. The time is 0 for a product that the served release does not show.
type productVersion struct {
	version, published int64
	place              uint32
}

// foundBy is what a product is found by.
type foundBy struct{ sku, slug string }

// comparison compares what was with what is or would be. A publication, a dry run and the difference of two stored releases
// use it. It finds the products that differ by their versions, and all else by its content.
type comparison struct {
	before, now releaseSide // before is nil if there is nothing to compare with
	products    []productChange
	fileIDs     []string // of files that may differ
}

// productChange is a product that differs.
type productChange struct {
	id     string
	effect PendingEffect
}

// resourceChange is a resource that differs. was and is are zero where a side does not have it.
type resourceChange[T any] struct {
	id      string
	effect  PendingEffect
	was, is T
}

// changesOf reads resources of both sides by id, and returns those that only one side has or that are not the same. A same
// of nil returns all.
func changesOf[T any](c *comparison, read func(releaseSide) (map[string]T, error), same func(was, is T) bool) (list []resourceChange[T], err error) {
	var before map[string]T
	if c.before != nil {
		if before, err = read(c.before); err != nil {
			return nil, err
		}
	}
	now, err := read(c.now)
	if err != nil {
		return nil, err
	}
	for id, is := range now {
		if was, known := before[id]; !known || same == nil || !same(was, is) {
			list = append(list, resourceChange[T]{id, effectOf(true, known), was, is})
		}
	}
	for id, was := range before {
		if _, known := now[id]; !known {
			list = append(list, resourceChange[T]{id: id, effect: PendingRemove, was: was})
		}
	}
	return list, nil
}

// comparedAtOnce is the number of products or files that are compared at once.
const comparedAtOnce = 512

// compareProducts adds to products which of some differ.
func (c *comparison) compareProducts(ctx context.Context, ids []string) error {
	return store.Chunked(ids, comparedAtOnce, func(ids []string) error {
		changes, err := changesOf(c, func(side releaseSide) (map[string]productVersion, error) { return side.versions(ctx, ids) },
			func(was, is productVersion) bool { return was.version == is.version })
		for _, change := range changes {
			c.products = append(c.products, productChange{change.id, change.effect})
		}
		return err
	})
}

// changedFiles returns which of fileIDs differ.
func (c *comparison) changedFiles(ctx context.Context) (list []resourceChange[described], err error) {
	return list, store.Chunked(store.Unique(c.fileIDs), comparedAtOnce, func(ids []string) error {
		some, err := changesOf(c, func(side releaseSide) (map[string]described, error) {
			texts, err := side.files(ctx, ids)
			found := make(map[string]described, len(texts))
			for id, text := range texts {
				found[id] = described{ResourceFile, "", text}
			}
			return found, err
		}, sameBody)
		list = append(list, some...)
		return err
	})
}

// changedAttributes returns the declarations of attributes that differ, also those that only moved.
func (c *comparison) changedAttributes(ctx context.Context) ([]resourceChange[described], error) {
	return changesOf(c, func(side releaseSide) (map[string]described, error) {
		declared, err := side.attributes(ctx)
		found := make(map[string]described, len(declared))
		for position, a := range declared {
			found[a.ID] = described{ResourceAttribute, a.Attributes.Label, string(store.Encode(struct {
				*catalog.AttributeSource
				Position int `json:"position"`
			}{a, position}))}
		}
		return found, err
	}, sameBody)
}

// changedNodes returns the nodes and hierarchies whose content differs. Their curated products are not part of it.
func (c *comparison) changedNodes(ctx context.Context) ([]resourceChange[*segment.CatalogNode], error) {
	return changesOf(c, func(side releaseSide) (map[string]*segment.CatalogNode, error) {
		tree, err := side.tree(ctx)
		if err != nil {
			return nil, err
		}
		return tree.ByID, nil
	}, (*segment.CatalogNode).SameContent)
}

// described is a resource as Differences show it.
type described struct {
	kind ResourceKind
	name string
	body string // JSON
}

func sameBody(was, is described) bool { return was.body == is.body }

// sortedIDs returns the ids of a set in order.
func sortedIDs[T any](set map[string]T) []string { return slices.Sorted(maps.Keys(set)) }
