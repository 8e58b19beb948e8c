package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"portico/graph/model"
	"portico/store"
	"portico/store/catalog"
)

// includeNames are what include can ask for.
var includeNames = []string{"component_products", "main_image", "files"}

// productList asks a resolver for a page of products.
type productList func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error)

// nodeProducts lists the live products of a node or hierarchy (spec: Get a
// node's products).
func (a *API) nodeProducts(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendProduct, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		node, err := a.findNode(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.CatalogNode().Products(r.Context(), node, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// hierarchyProducts lists the live products of all nodes of a hierarchy.
func (a *API) hierarchyProducts(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendProduct, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		hierarchy, err := a.findHierarchy(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.Hierarchy().Products(r.Context(), hierarchy, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// products lists every live product of the catalog, children too: those that
// no node lists are told by relationships.parent and base_product_id.
func (a *API) products(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendProduct, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		every := true
		return a.resolver.Query().Products(r.Context(), filter, &every, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// productChildren lists the live children of a parent.
func (a *API) productChildren(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendProduct, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		product, err := a.findProduct(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.Product().ChildrenConnection(r.Context(), product, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// componentProducts lists the live products that a bundle is made of, by
// reference; ?include=component_products has them whole on the bundle.
func (a *API) componentProducts(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendReference, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		product, err := a.findProduct(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.Product().ComponentProductsConnection(r.Context(), product, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

func appendProduct(dst []byte, product *model.Product) []byte { return product.AppendJSON(dst) }

func appendReference(dst []byte, product *model.Product) []byte {
	dst = store.AppendString(append(dst, `{"type":"product","id":`...), product.ID())
	return append(dst, '}')
}

// product returns one live product, listed or not.
func (a *API) product(w http.ResponseWriter, r *http.Request) error {
	p, err := parseListParams(r)
	if err != nil {
		return err
	}
	if err := checkInclude(p.include); err != nil {
		return err
	}
	addGraphQLHint(w, r, "id", r.PathValue("id"), "components", p.includeComponents())
	product, err := a.findProduct(r)
	if err != nil {
		return err
	}
	return a.writeProduct(w, r, p, product)
}

// writeProduct answers with one product and what was asked to be included.
func (a *API) writeProduct(w http.ResponseWriter, r *http.Request, p *listParams, product *model.Product) error {
	one := []*model.Product{product}
	included, err := a.loadIncluded(r, p, one)
	if err != nil {
		return err
	}
	setContentLanguage(w, one)
	limit := a.newBuilder(r)
	return limit.write(w, estimateSize(one, included), func(dst []byte) ([]byte, error) {
		dst = appendSelfLink(product.AppendJSON(append(dst, `{"data":`...)), r)
		err := limit.check(dst)
		if included != nil && err == nil {
			dst, err = included.append(append(dst, `,"included":`...), limit)
		}
		return append(dst, '}'), err
	})
}

// appendSelfLink appends the link of a single resource.
func appendSelfLink(dst []byte, r *http.Request) []byte {
	dst = store.AppendString(append(dst, `,"links":{"self":`...), r.URL.EscapedPath())
	return append(dst, '}')
}

// findProduct is the product of the path.
func (a *API) findProduct(r *http.Request) (*model.Product, error) {
	id := r.PathValue("id")
	product, err := a.resolver.Query().Product(r.Context(), &id, nil, nil)
	if err == nil && product == nil {
		err = productNotFound(r)
	}
	return product, err
}

// productNotFound says that there is none at the path.
func productNotFound(r *http.Request) error {
	return &store.Error{Code: store.NotFound, Detail: "There is no product " + strconv.Quote(r.PathValue("id")) + " in this shopper's catalog."}
}

// writeProducts answers with a page of products, each written by row.
func (a *API) writeProducts(w http.ResponseWriter, r *http.Request, row func([]byte, *model.Product) []byte, list productList) error {
	p, err := parseListParams(r)
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
	p.addGraphQLHint(w, r, filter, "id", pathParameter(r, "id"), "components", p.includeComponents())
	products, err := list(p, filter)
	if err != nil {
		return err
	}
	page, err := newPagination(r.Context(), p, products.Connection)
	if err != nil {
		return err
	}
	included, err := a.loadIncluded(r, p, products.Nodes)
	if err != nil {
		return err
	}
	setContentLanguage(w, products.Nodes)
	limit := a.newBuilder(r)
	return limit.write(w, estimateSize(products.Nodes, included), func(dst []byte) ([]byte, error) {
		return appendCatalogPage(dst, limit, products.Nodes, page, r.URL.EscapedPath(), row, included)
	})
}

// envelopeBytes is about what a page has beside its products, in bytes.
const envelopeBytes = 2 << 10

// estimateSize is about what an answer with products, and what it includes, comes to
// in bytes.
func estimateSize(products []*model.Product, included *includedResources) int {
	size := envelopeBytes
	for _, product := range products {
		size += product.JSONSize() + 1
	}
	if included != nil {
		for _, product := range included.components {
			size += product.JSONSize() + 1
		}
		for _, file := range slices.Concat(included.mainImages, included.files) {
			size += file.JSONSize() + 1
		}
	}
	return size
}

// setContentLanguage names the languages of the products' texts; several where some
// products lack the shopper's.
func setContentLanguage(w http.ResponseWriter, products []*model.Product) {
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

// checkInclude is INVALID for a resource that cannot be included.
func checkInclude(text string) error {
	for _, name := range splitInclude(text) {
		if !slices.Contains(includeNames, name) {
			return invalidParameter("include", "must be a list of %s, got %q", strings.Join(includeNames, ", "), name)
		}
	}
	return nil
}

func splitInclude(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
}

// includeComponents is true where component products are to be included, nil where
// they are not.
func (p *listParams) includeComponents() *bool {
	if !slices.Contains(splitInclude(p.include), "component_products") {
		return nil
	}
	yes := true
	return &yes
}

// includedResources are the resources that the page refers to, each once.
type includedResources struct {
	mainImages, files []*catalog.File
	components        []*model.Product
}

// loadIncluded fetches what was asked for, in one batch a kind; nil when nothing
// was.
func (a *API) loadIncluded(r *http.Request, p *listParams, products []*model.Product) (*includedResources, error) {
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
	images, files = unique(images), unique(files)
	byID, err := a.resolver.FilesByID(r.Context(), slices.Concat(images, files))
	if err != nil {
		return nil, err
	}
	components = unique(components) // bundles share parts
	bundled, err := a.resolver.ProductsByID(r.Context(), components)
	if err != nil {
		return nil, err
	}
	return &includedResources{pickInOrder(images, byID), pickInOrder(files, byID), pickInOrder(components, bundled)}, nil
}

// unique leaves out what came before.
func unique(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	return slices.DeleteFunc(ids, func(id string) bool {
		before := seen[id]
		seen[id] = true
		return before
	})
}

// pickInOrder takes resources in the order of the ids.
func pickInOrder[T any](ids []string, byID map[string]T) []T {
	list := make([]T, 0, len(ids))
	for _, id := range ids {
		if value, ok := byID[id]; ok {
			list = append(list, value)
		}
	}
	return list
}

func (i *includedResources) append(dst []byte, l *responseBuilder) ([]byte, error) {
	dst, err := appendList(append(dst, `{"main_images":[`...), l, i.mainImages)
	if err == nil {
		dst, err = appendList(append(dst, `],"files":[`...), l, i.files)
	}
	if err == nil {
		dst, err = appendList(append(dst, `],"component_products":[`...), l, i.components)
	}
	return append(dst, "]}"...), err
}

// appendList appends resources that write themselves.
func appendList[T interface{ AppendJSON([]byte) []byte }](dst []byte, l *responseBuilder, list []T) ([]byte, error) {
	return appendRows(dst, l, list, func(dst []byte, resource T) []byte { return resource.AppendJSON(dst) })
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}
