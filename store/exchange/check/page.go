package check

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
)

// pageSlug returns the slug of a live product, or of a node at the top of its hierarchy, as the path of its page.
func pageSlug(source authoring.Source) string {
	switch source := source.(type) {
	case *catalog.ProductSource:
		if source.Attributes.Status == string(catalog.ProductLive) {
			return source.Attributes.Slug
		}
	case *catalog.NodeSource:
		if source.Relationships.Parent.ID() == "" {
			return source.Attributes.Slug
		}
	}
	return ""
}

// addRedirect records a redirect: the further pass over the files finds a page whose slug is its path.
func (c *keyChecker) addRedirect(d Line) {
	if redirect, is := d.Source.(*catalog.RedirectSource); is {
		c.redirects[redirect.Attributes.From] = d.Number
	}
}

// hidesPage reports whether a redirect of the files is for the slug of a product or node of the files.
func (c *keyChecker) hidesPage() bool {
	for from := range c.redirects {
		_, product := c.defined[c.hash(authoring.KeySlug, from)]
		_, node := c.defined[c.hash(authoring.KeyPath, from)]
		if product || node {
			return true
		}
	}
	return false
}

// hide adds a warning if a redirect of the files is for the page of a line.
func (w *keyWarner) hide(d Line) {
	if line, is := w.redirects[pageSlug(d.Source)]; is {
		w.hidden = append(w.hidden, ImportError{Line: line, Type: "redirect", Other: d.Number, Err: store.Invalidf([]string{"attributes", "from"}, pageDetail, d.Kind, d.Source.Key(), "")})
	}
}

// pageDetail takes the kind and the id of what a redirect hides, and where that is.
const pageDetail = "is also the path of the %s %q%s: storefronts that ask for redirects first do not show it"

// pages returns the live products and the nodes of the store that have one of some paths. The slug of a product is one of them.
func (s *storedKeys) pages(ctx context.Context, in db.Session, paths []string) (owners []keyOwner, err error) {
	byLast := map[string][]string{} // slug
	for _, path := range paths {
		last := path[strings.LastIndex(path, "/")+1:]
		byLast[last] = append(byLast[last], path)
	}
	var above []string // the node or hierarchy above each candidate
	read := func(kind authoring.KeyKind, query string) {
		if err != nil || s.empty[string(kind)] {
			return
		}
		_, err = db.CollectIn(ctx, in, func(rows *sql.Rows) (o keyOwner, err error) {
			var parent string
			o.kind = kind
			err = rows.Scan(&o.id, &o.key, &parent)
			owners, above = append(owners, o), append(above, parent)
			return o, err
		}, slices.Sorted(maps.Keys(byLast)), query)
	}
	read(authoring.KeyNode, `SELECT id, slug, parent_id FROM node WHERE slug IN ($in)`)
	read(authoring.KeyProduct, `SELECT id, slug, COALESCE(node_id, '') FROM product LEFT JOIN node_product ON product_id = id WHERE live AND slug IN ($in)`)
	if err != nil || len(owners) == 0 {
		return nil, err
	}
	tree, err := readTree(ctx, in)
	var found []keyOwner
	for i, o := range owners {
		for _, path := range byLast[o.key] {
			if o.kind == authoring.KeyProduct && path == o.key || slices.Contains(tree.below(above[i], o.key), path) {
				found = append(found, keyOwner{o.kind, o.id, path})
			}
		}
	}
	return found, err
}

// slugTree has the nodes and hierarchies of the store by id.
type slugTree map[string]slugNode

type slugNode struct{ slug, parent string }

func readTree(ctx context.Context, in db.Session) (slugTree, error) {
	tree := slugTree{}
	nodes, err := db.Collect(ctx, in, func(rows *sql.Rows) (n db.Pair[string, slugNode], err error) {
		return n, rows.Scan(&n.Key, &n.Value.slug, &n.Value.parent)
	}, `SELECT id, slug, parent_id FROM node`)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		tree[n.Key] = n.Value
	}
	_, err = db.Collect(ctx, in, func(rows *sql.Rows) (id string, err error) {
		var hierarchy struct {
			Attributes struct {
				Slug string `json:"slug"`
			} `json:"attributes"`
		}
		err = rows.Scan(&id, db.JSON{Into: &hierarchy})
		tree[id] = slugNode{slug: hierarchy.Attributes.Slug}
		return id, err
	}, `SELECT id, body FROM hierarchy`)
	return tree, err
}

// below returns the paths of a slug below a node, with the slug of its hierarchy and without; none if a slug is missing.
func (t slugTree) below(id, slug string) (paths []string) {
	path := slug
	for range len(t) {
		n, known := t[id]
		if !known {
			return nil
		}
		if n.parent == "" {
			if paths = []string{path}; n.slug != "" {
				paths = append(paths, n.slug+"/"+path)
			}
			return paths
		}
		if n.slug == "" {
			return nil
		}
		id, path = n.parent, n.slug+"/"+path
	}
	return nil
}
