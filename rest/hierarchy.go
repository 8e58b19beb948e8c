package rest

import (
	"net/http"
	"net/url"
	"strconv"

	"portico/graph/model"
	"portico/store"
)

// hierarchyBody is a hierarchy as the clients' types define it.
type hierarchyBody struct {
	ID            string                 `json:"id"`
	Type          string                 `json:"type"`
	Attributes    hierarchyAttributes    `json:"attributes"`
	Relationships hierarchyRelationships `json:"relationships"`
	Meta          hierarchyMeta          `json:"meta"`
}

type hierarchyAttributes struct {
	Name              string         `json:"name"`
	Slug              string         `json:"slug"`
	Description       string         `json:"description"`
	ShopperAttributes map[string]any `json:"shopper_attributes"`
	CreatedAt         catalogTime    `json:"created_at"`
	UpdatedAt         catalogTime    `json:"updated_at"`
	PublishedAt       catalogTime    `json:"published_at"`
}

type hierarchyRelationships struct {
	Children relationship `json:"children"`
	Nodes    relationship `json:"nodes"`
	Products relationship `json:"products"`
}

type hierarchyMeta struct {
	Language    string       `json:"language"`
	Breadcrumbs []breadcrumb `json:"breadcrumbs"` // always empty: a hierarchy is a root
	HasChildren bool         `json:"has_children"`
	Owner       string       `json:"owner"`
}

func newHierarchyBody(h *model.Hierarchy) hierarchyBody {
	path := "/catalog/hierarchies/" + url.PathEscape(h.ID)
	return hierarchyBody{
		ID: h.ID, Type: "hierarchy",
		Attributes: hierarchyAttributes{Name: h.Name, Slug: h.CatalogNode.Slug, Description: h.CatalogNode.Description, ShopperAttributes: map[string]any{},
			CreatedAt: catalogTime(h.CreatedAt), UpdatedAt: catalogTime(h.UpdatedAt), PublishedAt: catalogTime(h.PublishedAt)},
		Relationships: hierarchyRelationships{Children: listRelationship(path + "/children"), Nodes: listRelationship(path + "/nodes"), Products: listRelationship(path + "/products")},
		Meta:          hierarchyMeta{Language: h.Locale, Breadcrumbs: []breadcrumb{}, HasChildren: h.HasChildren(), Owner: "store"},
	}
}

// hierarchies lists the hierarchies of the shopper's catalog.
func (a *API) hierarchies(w http.ResponseWriter, r *http.Request) error {
	p, filter, err := parseNodeParams(r)
	if err != nil {
		return err
	}
	p.addGraphQLHint(w, r, filter)
	list, err := a.resolver.Query().Hierarchies(r.Context(), filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	if err != nil {
		return err
	}
	page, err := newPagination(r.Context(), p, list)
	if err != nil {
		return err
	}
	setContentLanguage(w, list.Nodes, func(h *model.Hierarchy) string { return h.Locale })
	builder := a.newBuilder(r)
	return builder.write(w, 0, func(dst []byte) ([]byte, error) {
		return appendCatalogPage(dst, builder, list.Nodes, page, r.URL.EscapedPath(),
			func(dst []byte, h *model.Hierarchy) []byte { return appendResource(dst, newHierarchyBody(h)) }, nil)
	})
}

// hierarchy returns a hierarchy.
func (a *API) hierarchy(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r, "id", r.PathValue("id"))
	hierarchy, err := a.findHierarchy(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", hierarchy.Locale)
	writeJSON(w, http.StatusOK, singleBody(r, newHierarchyBody(hierarchy)))
	return nil
}

// hierarchyChildren lists the nodes directly below a hierarchy.
func (a *API) hierarchyChildren(w http.ResponseWriter, r *http.Request) error {
	return a.writeNodes(w, r, func(p *listParams, filter *model.CatalogNodeFilter) (*model.CatalogNodeConnection, error) {
		hierarchy, err := a.findHierarchy(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.Hierarchy().Children(r.Context(), hierarchy, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// hierarchyNodes lists all nodes of a hierarchy.
func (a *API) hierarchyNodes(w http.ResponseWriter, r *http.Request) error {
	return a.writeNodes(w, r, func(p *listParams, filter *model.CatalogNodeFilter) (*model.CatalogNodeConnection, error) {
		hierarchy, err := a.findHierarchy(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.Hierarchy().AllNodes(r.Context(), hierarchy, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// findHierarchy returns the hierarchy in the path.
func (a *API) findHierarchy(r *http.Request) (*model.Hierarchy, error) {
	hierarchy, err := a.resolver.Query().Hierarchy(r.Context(), r.PathValue("id"))
	if err == nil && hierarchy == nil {
		err = &store.Error{Code: store.NotFound, Detail: "There is no hierarchy " + strconv.Quote(r.PathValue("id")) + " in this shopper's catalog."}
	}
	return hierarchy, err
}

// breadcrumb is a node on the path to a node.
type breadcrumb struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
}
