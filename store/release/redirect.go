package release

import (
	"cmp"
	"context"
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

// redirectPast redirects a path for which there is no imported redirect, by the first rule that applies, first as a path and then, if
// it is one slug, as the slug of any product or node:
//   - what is there now is the result if an imported redirect led there (moved), else nil: nothing is to be redirected;
//   - what was there last, and is still in the release, is the result, at its path now;
//   - the path itself is the result if moved, even if nothing is known there.
func (v *View) redirectPast(ctx context.Context, path string, moved bool) (*Redirect, error) {
	slugs := strings.Split(path, "/")
	var past, anywhere []pathSpan
	for _, bySlug := range []bool{false, true} {
		if bySlug && len(slugs) > 1 {
			break
		}
		here, err := v.redirectHere(ctx, path, bySlug)
		if err != nil || here != nil && moved {
			return here, err
		}
		if here != nil { // it would lead to itself
			return nil, nil
		}
		if past = anywhere; !bySlug {
			if past, anywhere, err = v.pastOf(ctx, slugs); err != nil {
				return nil, err
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
	slices.SortFunc(past, func(a, b pathSpan) int {
		return cmp.Or(cmp.Compare(b.until, a.until), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
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
		if p.kind == segment.PathProduct && products[p.id] == nil {
			continue
		}
		if found, err := v.redirectTo(ctx, p.kind, p.id); err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// redirectHere returns what is at a path, or has it as its slug; nil for nothing.
func (v *View) redirectHere(ctx context.Context, path string, bySlug bool) (*Redirect, error) {
	find, key := v.NodeAtPath, ProductKey{Path: path}
	if bySlug {
		find, key = v.NodeWithSlug, ProductKey{Slug: path}
	}
	found := &Redirect{Path: path}
	var err error
	if found.Node, err = find(ctx, path); store.HasCode(err, store.NotFound) {
		found.Product, err = v.Product(ctx, key)
	}
	if store.HasCode(err, store.NotFound) {
		return nil, nil
	}
	return found, err
}

// redirectTo returns the redirect to a product or node: its path, or its slug if it has no path. nil if the release
// does not have it, or it has no slug.
func (v *View) redirectTo(ctx context.Context, kind, id string) (*Redirect, error) {
	if kind != catalog.RedirectProduct {
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
