package release

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// MaxSEODescription is the number of characters that a description is cut to for search engines.
const MaxSEODescription = 160

// SEOOf returns what search engines show: the merchant's texts, else the name and the beginning of the description.
func SEOOf(own catalog.SEOText, name, description string) catalog.SEOText {
	own.Title = cmp.Or(own.Title, name)
	if own.Description == "" {
		own.Description = cutWords(description, MaxSEODescription)
	}
	return own
}

// SEO returns what search engines show of the product, in its language.
func (p *storedProduct) SEO() catalog.SEOText {
	return SEOOf(p.extras().SEO, p.Name(), p.Description())
}

// Alt returns the alternative text of a file of the product: the merchant's, else the product's name.
func (p *storedProduct) Alt(fileID string) string { return cmp.Or(p.extras().Alts[fileID], p.Name()) }

// RelatedIDs returns the products that the merchant named as related, by kind. Some may not be live.
func (p *storedProduct) RelatedIDs() map[string][]string { return p.extras().Related }

// RelatedKinds returns the kinds of RelatedIDs, in byte order.
func (p *storedProduct) RelatedKinds() []string {
	kinds := slices.AppendSeq([]string{}, maps.Keys(p.RelatedIDs()))
	slices.Sort(kinds)
	return kinds
}

// extras decodes what GraphQL shows of the product and REST does not, at each call.
func (p *storedProduct) extras() (e catalog.ProductExtras) {
	if p.extraText != "" {
		p.check(json.Unmarshal([]byte(p.extraText), &e))
	}
	return e
}

// cutWords joins the words of a text by single spaces and cuts it to at most some characters, at the end of a
// word. A first word that is longer is cut. It takes memory for the result only.
func cutWords(text string, most int) string {
	if end := 8 * utf8.UTFMax * most; len(text) > end { // enough, whatever its spaces
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	var b strings.Builder
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case b.Len() == 0 && n > most:
			return string([]rune(word)[:most])
		case b.Len() == 0:
			b.Grow(min(len(text), most))
			most++ // there is no space before it
		case n+1 > most:
			return b.String()
		default:
			b.WriteByte(' ')
		}
		b.WriteString(word)
		most -= n + 1
	}
	return b.String()
}

// NodePaths returns the paths of nodes, as NodeAtPath takes them: the slugs of the hierarchy, if it has one, of
// the nodes above and of the node. A node is left out if it or a node above has no slug.
func (v *View) NodePaths(ctx context.Context, nodes []*segment.CatalogNode) (map[string]string, error) {
	var above []string
	for _, node := range nodes {
		above = append(above, node.Ancestors...)
	}
	byID, err := v.NodesByID(ctx, above)
	if err != nil {
		return nil, err
	}
	paths := make(map[string]string, len(nodes))
	for _, node := range nodes {
		if path := NodePath(node, byID); path != "" {
			paths[node.ID] = path
		}
	}
	return paths, nil
}

// ProductPaths returns the paths of products, by id, each by its first node: ProductKey.Path takes them. A product
// is left out if it has no node or slug, or its node no path.
func (v *View) ProductPaths(ctx context.Context, products []*Product) (map[string]string, error) {
	var first []string
	for _, p := range products {
		if nodes := p.NodeIDs(); len(nodes) > 0 {
			first = append(first, nodes[0])
		}
	}
	nodes, err := v.NodesByID(ctx, store.Unique(first))
	if err != nil {
		return nil, err
	}
	of, err := v.NodePaths(ctx, slices.Collect(maps.Values(nodes)))
	if err != nil {
		return nil, err
	}
	paths := make(map[string]string, len(products))
	for _, p := range products {
		if nodes := p.NodeIDs(); len(nodes) > 0 && of[nodes[0]] != "" && p.Slug() != "" {
			paths[p.ID()] = of[nodes[0]] + "/" + p.Slug()
		}
	}
	return paths, nil
}

// NodePath returns the path of a node, or "" if it or a node above has no slug. byID has at least all nodes above it.
func NodePath(node *segment.CatalogNode, byID map[string]*segment.CatalogNode) string {
	if node.Slug == "" {
		return ""
	}
	var slugs []string
	for i, id := range node.Ancestors {
		switch slug := byID[id].Slug; {
		case slug != "":
			slugs = append(slugs, slug)
		case i > 0: // a hierarchy may be left out
			return ""
		}
	}
	return strings.Join(append(slugs, node.Slug), "/")
}
