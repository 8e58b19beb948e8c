package release

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// Redirect is where a path of the past leads now.
type Redirect struct {
	Path    string               // or a URL with a scheme
	Product *Product             // that is at Path; nil for none
	Node    *segment.CatalogNode // that is at Path; nil for none
}

// The limits of a path to redirect.
const (
	MaxRedirectPath  = 1024 // bytes
	maxRedirectSlugs = 32
	maxRedirectHops  = 20
)

// Redirect returns where a path leads: by an imported redirect, else by the paths that products and nodes had when the catalog
// served other releases. Chains are followed to their end. It returns nil if the path leads nowhere
// else, also if a product or node is there now, and for a chain that does not end. The path has slugs joined by
// slashes, or is one slug. INVALID for a path that is too long.
func (v *View) Redirect(ctx context.Context, path string) (*Redirect, error) {
	at := strings.Trim(path, "/")
	if len(at) > MaxRedirectPath || strings.Count(at, "/") >= maxRedirectSlugs {
		return nil, store.Invalidf([]string{"path"}, "must have at most %d bytes and %d slugs, got %d and %d", MaxRedirectPath, maxRedirectSlugs, len(at), 1+strings.Count(at, "/"))
	}
	if !store.IsStorableText(at) {
		return nil, store.Invalidf([]string{"path"}, "must be UTF-8 text without NUL")
	}
	imported, err := v.Redirects(ctx)
	if err != nil || at == "" {
		return nil, err
	}
	for hop := range maxRedirectHops {
		source := imported.ByPath[at]
		if source == nil {
			return v.redirectPast(ctx, at, hop > 0)
		}
		if target := source.Relationships.Target; target != nil {
			return v.redirectTo(ctx, target.Data.Type, target.Data.ID)
		}
		if at = source.Attributes.To; catalog.IsURL(at) {
			return &Redirect{Path: at}, nil
		}
	}
	return nil, nil
}

// redirectPast redirects a path for which there is no imported redirect, by the first rule that applies:
//   - what is at the path now is the result if an imported redirect led there (moved), else nil: nothing is to be redirected;
//   - what the path led to last, and is still there, is the result, at its path now;
//   - if the path is one slug, what has it now, or had it last, as a path;
//   - the path itself is the result if moved, even if nothing is known there.
func (v *View) redirectPast(ctx context.Context, path string, moved bool) (*Redirect, error) {
	here := func(node func(context.Context, string) (*segment.CatalogNode, error), key ProductKey) (*Redirect, bool, error) {
		found, err := v.redirectHere(ctx, path, node, key)
		if is := found != nil; !is || moved {
			return found, is, err
		}
		return nil, true, nil // it would lead to itself
	}
	if found, is, err := here(v.NodeAtPath, ProductKey{Path: path}); err != nil || is {
		return found, err
	}
	slugs := strings.Split(path, "/")
	v.ReadValues("slug", slugs)
	turn := int64(math.MaxInt64)
	if v.shopper.ReleaseID != "" { // such a view shows the same for ever
		turn = v.Release.ID
	}
	changes, err := v.PathChanges(ctx, store.Unique(slugs), turn)
	if err != nil {
		return nil, err
	}
	if len(changes) > 0 {
		past, err := v.pastOf(ctx, slugs, changes)
		if err != nil {
			return nil, err
		}
		if found, err := v.redirectToLast(ctx, past); err != nil || found != nil {
			return found, err
		}
	}
	if len(slugs) == 1 {
		if found, is, err := here(v.NodeWithSlug, ProductKey{Slug: path}); err != nil || is {
			return found, err
		}
		var past []pathSpan
		for _, c := range changes {
			if !c.Came {
				past = append(past, pathSpan{kind: c.Kind, id: c.TargetID, until: c.Turn})
			}
		}
		if found, err := v.redirectToLast(ctx, past); err != nil || found != nil {
			return found, err
		}
	}
	if moved {
		return &Redirect{Path: path}, nil
	}
	return nil, nil
}

// maxPastTargets is the number of products and nodes that a path led to last, of which redirectToLast takes one.
const maxPastTargets = 100

// redirectToLast redirects to that of some products and nodes which a path led to last, as far as the release has them; nil if it
// has none. At the same time the path of a node wins.
func (v *View) redirectToLast(ctx context.Context, past []pathSpan) (*Redirect, error) {
	slices.SortStableFunc(past, func(a, b pathSpan) int {
		return cmp.Or(cmp.Compare(b.until, a.until), cmp.Compare(a.level(), b.level()), cmp.Compare(a.id, b.id))
	})
	past = past[:min(maxPastTargets, len(past))]
	var ids []string
	for _, p := range past {
		if p.kind == segment.PathProduct {
			ids = append(ids, p.id)
		}
	}
	products, err := v.ProductsByID(ctx, store.Unique(ids))
	if err != nil {
		return nil, err
	}
	for _, p := range past {
		kind := catalog.RedirectNode
		if p.kind == segment.PathProduct {
			if kind = catalog.RedirectProduct; products[p.id] == nil {
				continue
			}
		}
		if found, err := v.redirectTo(ctx, kind, p.id); err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// redirectHere returns what is at a path: the node that find finds, or else the product with a key; nil for nothing.
func (v *View) redirectHere(ctx context.Context, path string, find func(context.Context, string) (*segment.CatalogNode, error), key ProductKey) (*Redirect, error) {
	node, err := find(ctx, path)
	if err == nil {
		return &Redirect{Path: path, Node: node}, nil
	}
	var product *Product
	if store.HasCode(err, store.NotFound) {
		if product, err = v.Product(ctx, key); err == nil {
			return &Redirect{Path: path, Product: product}, nil
		}
	}
	if store.HasCode(err, store.NotFound) {
		err = nil
	}
	return nil, err
}

// redirectTo returns the redirect to a product or node: its path, or its slug if it has no path. nil if the release
// does not have it, or it has no slug.
func (v *View) redirectTo(ctx context.Context, kind, id string) (*Redirect, error) {
	if kind == catalog.RedirectNode {
		nodes, err := v.NodesByID(ctx, []string{id})
		if err != nil || nodes[id] == nil {
			return nil, err
		}
		paths, err := v.NodePaths(ctx, []*segment.CatalogNode{nodes[id]})
		return redirectWithPath(&Redirect{Node: nodes[id]}, paths[id], nodes[id].Slug), err
	}
	products, err := v.ProductsByID(ctx, []string{id})
	if err != nil || products[id] == nil {
		return nil, err
	}
	paths, err := v.ProductPaths(ctx, []*Product{products[id]})
	return redirectWithPath(&Redirect{Product: products[id]}, paths[id], products[id].Slug()), err
}

// redirectWithPath sets the path of a redirect, or the slug if that is empty; nil if both are.
func redirectWithPath(r *Redirect, path, slug string) *Redirect {
	if r.Path = path; path == "" {
		r.Path = slug
	}
	if r.Path == "" {
		return nil
	}
	return r
}
