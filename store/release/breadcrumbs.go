package release

import "portico/store"

// Breadcrumbs are the nodes a product is attached to, the newest attachment
// first, each with its ancestors, the hierarchy first; as the members
// bread_crumbs and bread_crumb_nodes of meta.
func Breadcrumbs(nodes []*CatalogNode) []byte {
	dst := []byte(`"bread_crumbs":{`)
	for _, node := range nodes {
		dst = store.AppendStrings(dst, node.ID, node.Ancestors)
	}
	dst = append(dst, '}')
	ids := make([]string, len(nodes))
	for i, node := range nodes {
		ids[i] = node.ID
	}
	return store.AppendStrings(dst, "bread_crumb_nodes", ids)
}
