package rest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"portico/graph/model"
	"portico/store"
	"portico/store/release"
)

// productList calls a resolver for a page of products with the parameters of a request.
type productList func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error)

// nodeProducts lists the live products of a node or hierarchy.
func (a *API) nodeProducts(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendProduct, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		node, err := a.findNode(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.CatalogNode().Products(r.Context(), node, false, filter, nil, release.VariantsAsListed, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// hierarchyProducts lists the live products of all nodes of a hierarchy.
func (a *API) hierarchyProducts(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendProduct, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		hierarchy, err := a.findHierarchy(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.Hierarchy().Products(r.Context(), hierarchy, filter, nil, release.VariantsAsListed, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// products lists every live product of the catalog, including products that no node
// lists. Children have relationships.parent and base_product_id.
func (a *API) products(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendProduct, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		every := true
		return a.resolver.Query().Products(r.Context(), filter, nil, &every, release.VariantsAsListed, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// productChildren lists the live children of a parent.
func (a *API) productChildren(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendProduct, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		product, err := a.findProduct(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.Product().ChildrenConnection(r.Context(), product, filter, nil, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// componentProducts lists the live products of a bundle, by type and id only.
func (a *API) componentProducts(w http.ResponseWriter, r *http.Request) error {
	return a.writeProducts(w, r, appendReference, func(p *listParams, filter *model.ProductFilter) (*model.ProductConnection, error) {
		product, err := a.findProduct(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.Product().ComponentProductsConnection(r.Context(), product, filter, nil, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// appendProduct and appendReference append a row of a list of products: the whole product, or its type and id.
func appendProduct(dst []byte, product *model.Product) []byte { return product.AppendJSON(dst) }

func appendReference(dst []byte, product *model.Product) []byte {
	dst = store.AppendString(append(dst, `{"type":"product","id":`...), product.ID())
	return append(dst, '}')
}

// product returns a live product, listed or not.
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

// writeProduct writes a product and its included resources.
func (a *API) writeProduct(w http.ResponseWriter, r *http.Request, p *listParams, product *model.Product) error {
	one := []*model.Product{product}
	included, err := a.loadIncluded(r, p, one)
	if err != nil {
		return err
	}
	setContentLanguage(w, one, (*model.Product).Locale)
	builder := a.newBuilder(r)
	return builder.write(w, estimateSize(one, included), func(dst []byte) ([]byte, error) {
		dst = appendSelfLink(product.AppendJSON(append(dst, `{"data":`...)), r)
		err := builder.check(dst)
		if included != nil && err == nil {
			dst, err = included.append(append(dst, `,"included":`...), builder)
		}
		return append(dst, '}'), err
	})
}

// findProduct returns the product in the path.
func (a *API) findProduct(r *http.Request) (*model.Product, error) {
	id := r.PathValue("id")
	product, err := a.resolver.Query().Product(r.Context(), model.ProductIdentifierInput{ID: &id})
	if err == nil && product == nil {
		err = productNotFound(r)
	}
	return product, err
}

// productNotFound is the error for the product in the path.
func productNotFound(r *http.Request) error {
	return &store.Error{Code: store.NotFound, Detail: "There is no product " + strconv.Quote(r.PathValue("id")) + " in this shopper's catalog."}
}

// writeProducts writes a page of products, each with row.
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
	setContentLanguage(w, products.Nodes, (*model.Product).Locale)
	builder := a.newBuilder(r)
	return builder.write(w, estimateSize(products.Nodes, included), func(dst []byte) ([]byte, error) {
		return appendCatalogPage(dst, builder, products.Nodes, page, r.URL.EscapedPath(), row, included)
	})
}

// envelopeBytes is the approximate size of a page without its products.
const envelopeBytes = 2 << 10

// estimateSize estimates the size of a response in bytes.
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

// setContentLanguage sets the header to the languages of the texts of a list. There are several if some of its resources
// lack the shopper's language.
func setContentLanguage[T any](w http.ResponseWriter, list []T, language func(T) string) {
	var languages []string
	for _, resource := range list {
		if l := language(resource); !slices.Contains(languages, l) {
			languages = append(languages, l)
		}
	}
	if len(languages) > 0 {
		w.Header().Set("Content-Language", strings.Join(languages, ", "))
	}
}
