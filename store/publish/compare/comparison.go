// Package compare finds what differs between two releases: products, files, nodes,
// attributes, synonyms, redirects, and the catalog. A Comparison reads two Sides, of which StoredSide is a
// stored release, and returns Differences. It must not import publish or shop.
package compare

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// Side is one of two releases that are compared: a stored one, or the one that a publication makes. Its maps leave
// out what the release does not show.
type Side interface {
	Release() *segment.Release
	// Versions returns the versions of products, by id.
	Versions(ctx context.Context, ids []string) (map[string]ProductVersion, error)
	// FoundBy returns what products are found by, by id.
	FoundBy(ctx context.Context, ids []string) (map[string]FoundBy, error)
	// Shown returns all that the release shows of products, by id.
	Shown(ctx context.Context, ids []string) (map[string]*ShownProduct, error)
	Tree(context.Context) (*segment.Tree, error)
	// Curated returns the ids of the products that come first in nodes, by node.
	Curated(context.Context, []*segment.CatalogNode) (map[string][]string, error)
	// Files returns the JSON of files, by id.
	Files(ctx context.Context, ids []string) (map[string]string, error)
	Attributes(context.Context) (segment.Attributes, error)
	SynonymSources(context.Context) ([]*catalog.SynonymSource, error)
	RedirectSources(context.Context) ([]*catalog.RedirectSource, error)
}

// ProductVersion is a hash of what a release shows of a product, since when it shows that, in microseconds, and the
// product's ordinal. The time is 0 for a product that the served release does not show.
type ProductVersion struct {
	Version, Published int64
	Ordinal            uint32
}

// FoundBy is what a product is found by.
type FoundBy struct {
	SKU, Slug string
	NodeIDs   []string // of the nodes that list it
}

// Comparison compares what was with what is or would be. A publication, a dry run and the difference of two stored releases
// use it. It finds the products that differ by their versions, and all else by its content.
type Comparison struct {
	Before, Now Side            // Before is nil if there is nothing to compare with
	Products    []productChange // that differ, as far as CompareProducts was called
	FileIDs     []string        // of files that may differ; the caller sets them
}

// productChange is a product that differs.
type productChange struct {
	ID     string
	Effect PendingEffect
}

// resourceChange is a resource that differs. Was and Is are zero where a side does not have it.
type resourceChange[T any] struct {
	ID      string
	Effect  PendingEffect
	Was, Is T
}

// ChangesOf reads resources of both sides by id, and returns those that only one side has or that are not the same, in any
// order. If same is nil, it returns all.
func ChangesOf[T any](c *Comparison, read func(Side) (map[string]T, error), same func(was, is T) bool) (list []resourceChange[T], err error) {
	var before map[string]T
	if c.Before != nil {
		if before, err = read(c.Before); err != nil {
			return nil, err
		}
	}
	now, err := read(c.Now)
	if err != nil {
		return nil, err
	}
	for id, is := range now {
		if was, known := before[id]; !known || same == nil || !same(was, is) {
			list = append(list, resourceChange[T]{id, EffectOf(true, known), was, is})
		}
	}
	for id, was := range before {
		if _, known := now[id]; !known {
			list = append(list, resourceChange[T]{ID: id, Effect: PendingRemove, Was: was})
		}
	}
	return list, nil
}

// AtOnce is the number of products, files, nodes or lists that are read at once.
const AtOnce = 512

// CompareProducts adds to c.Products those of some products that differ.
func (c *Comparison) CompareProducts(ctx context.Context, ids []string) error {
	return store.Chunked(ids, AtOnce, func(ids []string) error {
		changes, err := ChangesOf(c, func(side Side) (map[string]ProductVersion, error) { return side.Versions(ctx, ids) },
			func(was, is ProductVersion) bool { return was.Version == is.Version })
		for _, change := range changes {
			c.Products = append(c.Products, productChange{change.ID, change.Effect})
		}
		return err
	})
}

// ChangedFiles returns which of fileIDs differ.
func (c *Comparison) ChangedFiles(ctx context.Context) (list []resourceChange[described], err error) {
	return list, store.Chunked(store.Unique(c.FileIDs), AtOnce, func(ids []string) error {
		some, err := ChangesOf(c, func(side Side) (map[string]described, error) {
			texts, err := side.Files(ctx, ids)
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

// ChangedAttributes returns the declarations of attributes that differ, also those that only moved.
func (c *Comparison) ChangedAttributes(ctx context.Context) ([]resourceChange[described], error) {
	return ChangesOf(c, func(side Side) (map[string]described, error) {
		declared, err := side.Attributes(ctx)
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

// ChangedSynonyms returns the synonyms that differ. Their terms are their name.
func (c *Comparison) ChangedSynonyms(ctx context.Context) ([]resourceChange[described], error) {
	return changedSources(ctx, c, Side.SynonymSources, func(s *catalog.SynonymSource) (id string, of described) {
		return s.ID, described{kind: ResourceSynonym, name: cmp.Or(s.Attributes.Term, strings.Join(s.Attributes.Terms, ", "))}
	})
}

// ChangedRedirects returns the imported redirects that differ. The path that they are for is their name.
func (c *Comparison) ChangedRedirects(ctx context.Context) ([]resourceChange[described], error) {
	return changedSources(ctx, c, Side.RedirectSources, func(s *catalog.RedirectSource) (id string, of described) {
		return s.ID, described{kind: ResourceRedirect, name: s.Attributes.From}
	})
}

// changedSources returns the sources that differ. describe returns the id, kind and name of one.
func changedSources[T any](ctx context.Context, c *Comparison, read func(Side, context.Context) ([]*T, error), describe func(*T) (id string, of described)) ([]resourceChange[described], error) {
	return ChangesOf(c, func(side Side) (map[string]described, error) {
		sources, err := read(side, ctx)
		found := make(map[string]described, len(sources))
		for _, source := range sources {
			id, of := describe(source)
			of.body = string(store.Encode(source))
			found[id] = of
		}
		return found, err
	}, sameBody)
}

// ChangedNodes returns the nodes and hierarchies whose content differs. Their curated products are not part of it.
func (c *Comparison) ChangedNodes(ctx context.Context) ([]resourceChange[*segment.CatalogNode], error) {
	return ChangesOf(c, func(side Side) (map[string]*segment.CatalogNode, error) {
		tree, err := side.Tree(ctx)
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

// SortedIDs returns the ids of a set in order.
func SortedIDs[T any](set map[string]T) []string { return slices.Sorted(maps.Keys(set)) }
