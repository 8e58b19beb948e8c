package rest

import (
	"net/http"
	"net/url"
	"strconv"

	"portico/graph/model"
	"portico/store"
	"portico/store/release/segment"
)

// nodeBody is a node as the clients' types define it, or a hierarchy that is requested as a
// node.
type nodeBody struct {
	ID            string            `json:"id"`
	Type          segment.NodeKind  `json:"type"`
	Attributes    nodeAttributes    `json:"attributes"`
	Relationships nodeRelationships `json:"relationships"`
	Meta          nodeMeta          `json:"meta"`
}

type nodeAttributes struct {
	Name              string         `json:"name"`
	Label             string         `json:"label"` // same as Name, for older clients
	Slug              string         `json:"slug"`
	Description       string         `json:"description"`
	Status            string         `json:"status"`
	CuratedProducts   []string       `json:"curated_products"`
	ShopperAttributes map[string]any `json:"shopper_attributes"`
	CreatedAt         catalogTime    `json:"created_at"`
	UpdatedAt         catalogTime    `json:"updated_at"`
	PublishedAt       catalogTime    `json:"published_at"`
}

type nodeRelationships struct {
	Parent    relationship `json:"parent"` // null only for a hierarchy
	Hierarchy relationship `json:"hierarchy"`
	Children  relationship `json:"children"`
	Products  relationship `json:"products"`
}

type nodeMeta struct {
	Language    string       `json:"language"`
	BreadCrumb  []string     `json:"bread_crumb"` // ids, the hierarchy first
	Breadcrumbs []breadcrumb `json:"breadcrumbs"`
	HasChildren bool         `json:"has_children"`
}

// newNodeBodies returns the bodies of a page of nodes. The first node reads the breadcrumbs and curated products of all.
func (a *API) newNodeBodies(r *http.Request, nodes []*model.CatalogNode) ([]nodeBody, error) {
	bodies := make([]nodeBody, len(nodes))
	for i, n := range nodes {
		crumbs, err := a.resolver.CatalogNode().Breadcrumbs(r.Context(), n)
		if err != nil {
			return nil, err
		}
		curated, err := a.resolver.CatalogNode().CuratedProducts(r.Context(), n)
		if err != nil {
			return nil, err
		}
		bodies[i] = newNodeBody(n, crumbs, curated)
	}
	return bodies, nil
}

func newNodeBody(n *model.CatalogNode, crumbs []*model.Breadcrumb, curated []*model.Product) nodeBody {
	path, hierarchy := "/catalog/nodes/"+url.PathEscape(n.ID), "/catalog/hierarchies/"+url.PathEscape(n.HierarchyID)
	body := nodeBody{
		ID: n.ID, Type: n.Kind,
		Attributes: nodeAttributes{
			Name: n.Name, Label: n.Name, Slug: n.CatalogNode.Slug, Description: n.CatalogNode.Description, Status: "live",
			CuratedProducts: make([]string, len(curated)), ShopperAttributes: map[string]any{},
			CreatedAt: catalogTime(n.CreatedAt), UpdatedAt: catalogTime(n.UpdatedAt), PublishedAt: catalogTime(n.PublishedAt),
		},
		Relationships: nodeRelationships{
			Parent:    relationship{nil, map[string]any{"related": nil}},
			Hierarchy: relationship{resourceRef{"hierarchy", n.HierarchyID}, relatedLink(hierarchy)},
			Children:  listRelationship(path + "/relationships/children"),
			Products:  listRelationship(path + "/relationships/products"),
		},
		Meta: nodeMeta{Language: n.Locale, BreadCrumb: make([]string, len(crumbs)), Breadcrumbs: make([]breadcrumb, len(crumbs)), HasChildren: n.HasChildren()},
	}
	if n.ParentID != "" { // or the hierarchy, which storefronts read as a node
		body.Relationships.Parent = relationship{resourceRef{"node", n.ParentID}, relatedLink("/catalog/nodes/" + url.PathEscape(n.ParentID))}
	}
	for i, product := range curated {
		body.Attributes.CuratedProducts[i] = product.ID()
	}
	for i, c := range crumbs {
		body.Meta.BreadCrumb[i], body.Meta.Breadcrumbs[i] = c.UUID, breadcrumb{ID: c.UUID, Name: c.Name}
		if c.Slug != nil {
			body.Meta.Breadcrumbs[i].Slug = *c.Slug
		}
	}
	return body
}

// nodeList calls a resolver for a page of nodes with the parameters of a request.
type nodeList func(p *listParams, filter *model.CatalogNodeFilter) (*model.CatalogNodeConnection, error)

// nodes lists the nodes of the shopper's catalog.
func (a *API) nodes(w http.ResponseWriter, r *http.Request) error {
	return a.writeNodes(w, r, func(p *listParams, filter *model.CatalogNodeFilter) (*model.CatalogNodeConnection, error) {
		return a.resolver.Query().CatalogNodes(r.Context(), filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// nodeChildren lists the nodes directly below a node.
func (a *API) nodeChildren(w http.ResponseWriter, r *http.Request) error {
	return a.writeNodes(w, r, func(p *listParams, filter *model.CatalogNodeFilter) (*model.CatalogNodeConnection, error) {
		node, err := a.findNode(r)
		if err != nil {
			return nil, err
		}
		return a.resolver.CatalogNode().Children(r.Context(), node, filter, p.order, p.first, p.after, p.last, p.before, p.offset)
	})
}

// node returns a node.
func (a *API) node(w http.ResponseWriter, r *http.Request) error {
	addGraphQLHint(w, r, "id", r.PathValue("id"))
	node, err := a.findNode(r)
	if err != nil {
		return err
	}
	bodies, err := a.newNodeBodies(r, []*model.CatalogNode{node})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", node.Locale)
	writeJSON(w, http.StatusOK, singleBody(r, bodies[0]))
	return nil
}

// findNode returns the node in the path, or the hierarchy as a node.
func (a *API) findNode(r *http.Request) (*model.CatalogNode, error) {
	node, err := a.resolver.Query().CatalogNode(r.Context(), model.CatalogNodeIdentifierInput{ID: new(r.PathValue("id"))})
	if err == nil && node == nil {
		err = &store.Error{Code: store.NotFound, Detail: "There is no node " + strconv.Quote(r.PathValue("id")) + " in this shopper's catalog."}
	}
	return node, err
}

// writeNodes writes a page of nodes.
func (a *API) writeNodes(w http.ResponseWriter, r *http.Request, list nodeList) error {
	p, filter, err := parseNodeParams(r)
	if err != nil {
		return err
	}
	p.addGraphQLHint(w, r, filter, "id", pathParameter(r, "id"))
	nodes, err := list(p, filter)
	if err != nil {
		return err
	}
	page, err := newPagination(r.Context(), p, nodes)
	if err != nil {
		return err
	}
	bodies, err := a.newNodeBodies(r, nodes.Nodes)
	if err != nil {
		return err
	}
	setContentLanguage(w, nodes.Nodes, func(n *model.CatalogNode) string { return n.Locale })
	builder := a.newBuilder(r)
	return builder.write(w, 0, func(dst []byte) ([]byte, error) {
		return appendCatalogPage(dst, builder, bodies, page, r.URL.EscapedPath(), func(dst []byte, n nodeBody) []byte { return appendResource(dst, n) }, nil)
	})
}

// parseNodeParams reads the parameters of a list of nodes or hierarchies.
func parseNodeParams(r *http.Request) (*listParams, *model.CatalogNodeFilter, error) {
	p, err := parseListParamsSortedBy(r, store.SortID, store.SortName, store.SortCreatedAt, store.SortUpdatedAt)
	if err != nil {
		return nil, nil, err
	}
	filter, err := nodeFilter(p.filter)
	return p, filter, err
}
