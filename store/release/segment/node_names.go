package segment

import (
	"context"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// nodeNames are the names of the lists of the products of nodes and of all below them, by language and index.NameKey of the
// node's name.
type nodeNames map[[2]string][]string

func (n nodeNames) Size() (size int) {
	for key, lists := range n {
		size += 128 + len(key[1]) + 48*len(lists)
	}
	return size
}

// nameWork is the work of reading the name of a node, in bytes of an Allowance.
const nameWork = 64

// liftCategory raises the products of the nodes whose name is the search, in any form, in the base language or one of the
// shopper's.
func (r *Reader) liftCategory(ctx context.Context, result *SearchResult, text string) error {
	names, err := r.nodeNames(ctx)
	if err != nil {
		return err
	}
	var lists []string
	for _, language := range append([]string{r.Release.Locale}, r.languages...) {
		lists = append(lists, names[[2]string{language, index.NameKey(language, text)}]...)
	}
	if len(lists) == 0 {
		return nil
	}
	members, err := r.MembersOf(ctx, store.Unique(lists))
	if err == nil {
		result.LiftMembers(members)
	}
	return err
}

// nodeNames returns the names of all nodes in the base language and the shopper's, as index.NameKey has them.
func (r *Reader) nodeNames(ctx context.Context) (nodeNames, error) {
	key := db.CacheKey{Release: r.Release.nodesIdentity(), Kind: cachedNodeNames, Name: cachekey.New(r.languages...)}
	if kept, ok := db.Cached[nodeNames](r.Cache, key); ok {
		return kept, nil
	}
	tree, err := r.ReadTree(ctx)
	if err != nil {
		return nil, err
	}
	if err := store.Charge(ctx, nameWork*len(tree.Nodes)); err != nil {
		return nil, err
	}
	names := make(nodeNames, len(tree.Nodes))
	add := func(node *CatalogNode, language, name string) {
		key := [2]string{language, index.NameKey(language, name)}
		if list := node.ListOfSubtree(); key[1] != "" {
			names[key] = append(names[key], list)
		}
	}
	for _, node := range tree.Nodes {
		add(node, node.Locale, node.Name)
		for _, language := range r.languages {
			if text, has := node.Texts[language]; has {
				add(node, language, text.Name)
			}
		}
	}
	r.Cache.Set(key, names)
	return names, nil
}
