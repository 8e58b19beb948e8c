package release

import (
	"context"
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

// Redirect returns where a path leads: by an imported redirect, else by the slugs that products and nodes had in
// earlier releases of the catalog. Chains are followed to their end. It returns nil if the path leads nowhere
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
			return v.redirectSlugs(ctx, at, hop > 0)
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

// redirectSlugs redirects a path for which there is no imported redirect, by the first rule that applies:
//   - what is at the path now is the result if an imported redirect led there (moved), else nil: nothing is to be redirected;
//   - what had the last slug of the path before is the result, at its path now, the last change first;
//   - slugs of nodes above that changed are replaced, and what is at the path then is the result;
//   - the path itself is the result if moved, even if nothing is known there.
func (v *View) redirectSlugs(ctx context.Context, path string, moved bool) (*Redirect, error) {
	here, err := v.redirectHere(ctx, path)
	if err != nil || here != nil {
		if !moved { // it would lead to itself
			here = nil
		}
		return here, err
	}
	slugs := strings.Split(path, "/")
	v.ReadValues("slug", slugs)
	changes, err := v.SlugChanges(ctx, slugs)
	if err != nil {
		return nil, err
	}
	last, nodes := slugs[len(slugs)-1], map[string]string{} // by slug
	for _, change := range changes {
		if change.Slug == last {
			if found, err := v.redirectTo(ctx, change.Kind, change.TargetID); err != nil || found != nil {
				return found, err
			}
		}
		if change.Kind == catalog.RedirectNode && nodes[change.Slug] == "" {
			nodes[change.Slug] = change.TargetID
		}
	}
	for i, slug := range slugs[:len(slugs)-1] {
		if nodes[slug] == "" {
			continue
		}
		node, err := v.Node(ctx, nodes[slug])
		if err != nil && !store.HasCode(err, store.NotFound) {
			return nil, err
		}
		if node != nil {
			slugs[i] = node.Slug
		}
	}
	if now := strings.Join(slugs, "/"); now != path {
		if here, err := v.redirectHere(ctx, now); err != nil || here != nil {
			return here, err
		}
	}
	if moved {
		return &Redirect{Path: path}, nil
	}
	return nil, nil
}

// redirectHere returns what is at a path, or has it as its slug; nil for nothing.
func (v *View) redirectHere(ctx context.Context, path string) (*Redirect, error) {
	find := []func() (*Redirect, error){
		func() (*Redirect, error) {
			node, err := v.NodeAtPath(ctx, path)
			return &Redirect{Path: path, Node: node}, err
		},
		func() (*Redirect, error) {
			product, err := v.Product(ctx, ProductKey{Path: path})
			return &Redirect{Path: path, Product: product}, err
		},
	}
	if !strings.Contains(path, "/") {
		find = []func() (*Redirect, error){
			func() (*Redirect, error) {
				node, err := v.NodeWithSlug(ctx, path)
				return &Redirect{Path: path, Node: node}, err
			},
			func() (*Redirect, error) {
				product, err := v.Product(ctx, ProductKey{Slug: path})
				return &Redirect{Path: path, Product: product}, err
			},
		}
	}
	for _, find := range find {
		if found, err := find(); err == nil {
			return found, nil
		} else if !store.HasCode(err, store.NotFound) {
			return nil, err
		}
	}
	return nil, nil
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
