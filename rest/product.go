package rest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"portico/graph/model"
	"portico/store"
)

// includes are what include can ask for.
var includes = []string{"component_products", "main_image", "files"}

// nodeProducts lists the live products of a node or hierarchy (spec: Get a
// node's products).
func (a *API) nodeProducts(w http.ResponseWriter, r *http.Request) error {
	p, err := parseParams(r)
	if err != nil {
		return err
	}
	if err := checkInclude(p.include); err != nil {
		return err
	}
	filter, err := productFilter(p.filter)
	if err != nil {
		return err
	}
	ctx := r.Context()
	node, err := a.resolver.Query().CatalogNode(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	if node == nil {
		return &store.Error{Code: store.NotFound, Detail: "There is no node " + r.PathValue("id") + " in this shopper's catalog."}
	}
	products, err := a.resolver.CatalogNode().Products(ctx, node, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	page, err := newPage(ctx, p, products.Connection)
	if err != nil {
		return err
	}
	included, err := a.included(r, p, products.Nodes)
	if err != nil {
		return err
	}
	tellLanguages(w, products.Nodes)
	path := "/catalog/nodes/" + url.PathEscape(r.PathValue("id")) + "/relationships/products"
	writeJSON(w, http.StatusOK, appendProducts(products.Nodes, page, path, included))
	return nil
}

// tellLanguages names the languages of the products' texts; several where some
// products lack the shopper's.
func tellLanguages(w http.ResponseWriter, products []*model.Product) {
	var languages []string
	for _, product := range products {
		if !slices.Contains(languages, product.Language()) {
			languages = append(languages, product.Language())
		}
	}
	if len(languages) > 0 {
		w.Header().Set("Content-Language", strings.Join(languages, ", "))
	}
}

// appendProducts is the page's body.
func appendProducts(products []*model.Product, g *page, path string, included *included) []byte {
	dst := make([]byte, 0, 1024+4096*len(products))
	dst = append(dst, `{"meta":{`...)
	dst = g.appendMeta(dst)
	dst = append(dst, `},"data":[`...)
	for i, product := range products {
		dst = comma(dst, i)
		dst = product.AppendJSON(dst)
	}
	dst = append(dst, `],"links":{`...)
	dst = appendLink(dst, "self", path, g.self())
	for _, link := range []struct{ name, query string }{{"first", g.first()}, {"last", g.last()}, {"prev", g.prev()}, {"next", g.next()}} {
		dst = appendLink(append(dst, ','), link.name, path, link.query)
	}
	dst = append(dst, '}')
	if included != nil {
		dst = included.append(append(dst, `,"included":`...))
	}
	return append(dst, '}')
}

// checkInclude is INVALID for a resource that cannot be included.
func checkInclude(text string) error {
	for _, name := range splitInclude(text) {
		if !slices.Contains(includes, name) {
			return badParameter("include", "must be a list of %s, not %q", strings.Join(includes, ", "), name)
		}
	}
	return nil
}

func splitInclude(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
}

// included are the resources that the page refers to, each once.
type included struct {
	mainImages, files []*store.File
	components        []*model.Product
}

// included fetches what was asked for, in one batch a kind; nil when nothing
// was.
func (a *API) included(r *http.Request, p *params, products []*model.Product) (*included, error) {
	names := splitInclude(p.include)
	if len(names) == 0 {
		return nil, nil
	}
	var images, files, components []string
	for _, product := range products {
		if slices.Contains(names, "main_image") && product.MainImageID() != "" {
			images = append(images, product.MainImageID())
		}
		if slices.Contains(names, "files") {
			for _, link := range product.FileLinks() {
				files = append(files, link.ID)
			}
		}
		if slices.Contains(names, "component_products") {
			components = append(components, product.ComponentProductIDs()...)
		}
	}
	byID, err := a.resolver.FilesByID(r.Context(), slices.Concat(images, files))
	if err != nil {
		return nil, err
	}
	bundled, err := a.resolver.ProductsByID(r.Context(), components)
	if err != nil {
		return nil, err
	}
	return &included{inOrder(images, byID), inOrder(files, byID), inOrder(components, bundled)}, nil
}

// inOrder takes resources in the order of the ids, each once.
func inOrder[T any](ids []string, byID map[string]T) (list []T) {
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if value, ok := byID[id]; ok && !seen[id] {
			seen[id] = true
			list = append(list, value)
		}
	}
	return list
}

func (i *included) append(dst []byte) []byte {
	dst = appendList(append(dst, `{"main_images":`...), i.mainImages)
	dst = appendList(append(dst, `,"files":`...), i.files)
	dst = appendList(append(dst, `,"component_products":`...), i.components)
	return append(dst, '}')
}

// appendList appends a JSON array of resources that write themselves.
func appendList[T interface{ AppendJSON([]byte) []byte }](dst []byte, list []T) []byte {
	dst = append(dst, '[')
	for i, resource := range list {
		dst = resource.AppendJSON(comma(dst, i))
	}
	return append(dst, ']')
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}
