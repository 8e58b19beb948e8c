package rest

import (
	"net/http"

	"portico/store"
	"portico/store/release"
)

// releaseBody is a release as the clients' types define it. Releases are complete when
// they are visible, so the members for progress are constant.
type releaseBody struct {
	ID            string               `json:"id"`
	Type          string               `json:"type"`
	Attributes    releaseAttributes    `json:"attributes"`
	Relationships releaseRelationships `json:"relationships"`
	Meta          releaseMeta          `json:"meta"`
}

type releaseAttributes struct {
	Name        *string            `json:"name"`
	Description string             `json:"description"`
	CatalogID   string             `json:"catalog_id"`
	Hierarchies []releaseHierarchy `json:"hierarchies"` // the first 100
	PublishedAt catalogTime        `json:"published_at"`
}

type releaseHierarchy struct {
	ID    string `json:"id"`
	Label string `json:"label"` // same as Name, for older clients
	Name  string `json:"name"`
}

// releaseRelationships link to lists. There is no list of changes.
type releaseRelationships struct {
	Hierarchies listLink `json:"hierarchies"`
	Products    listLink `json:"products"`
	Delta       listLink `json:"delta"`
}

// listLink is the path of a list; null for none.
type listLink struct {
	Links map[string]any `json:"links"`
}

type releaseMeta struct {
	Language        string      `json:"language"`
	ReleaseStatus   string      `json:"release_status"`
	IsFullPublish   bool        `json:"is_full_publish"`
	IsFullDelta     bool        `json:"is_full_delta"`
	TotalProducts   int         `json:"total_products"` // in /catalog/products
	TotalNodes      int         `json:"total_nodes"`
	PercentComplete int         `json:"percent_completed"`
	Owner           string      `json:"owner"`
	CreatedAt       catalogTime `json:"created_at"`
	StartedAt       catalogTime `json:"started_at"`
	UpdatedAt       catalogTime `json:"updated_at"`
}

// catalog returns the release that this shopper sees, with the first 100 hierarchies. Of nodes and products it reads only the counts.
func (a *API) catalog(w http.ResponseWriter, r *http.Request) error {
	ctx, query, most, least, every := r.Context(), a.resolver.Query(), store.MaxPageLength, store.MinPageLength, true
	addGraphQLHint(w, r)
	hierarchies, err := query.Hierarchies(ctx, nil, nil, &most, nil, nil, nil, nil)
	if err != nil {
		return err
	}
	nodes, err := query.CatalogNodes(ctx, nil, nil, &least, nil, nil, nil, nil)
	if err != nil {
		return err
	}
	products, err := query.Products(ctx, nil, nil, &every, release.VariantsAsListed, nil, &least, nil, nil, nil, nil)
	if err != nil {
		return err
	}
	served, err := query.CatalogRelease(ctx, nil)
	if err != nil {
		return err
	}
	name, err := a.resolver.CatalogRelease().CatalogName(ctx, served)
	if err != nil {
		return err
	}
	at := catalogTime(served.PublishedAt)
	body := releaseBody{
		ID: served.UUID(), Type: "catalog-release",
		Attributes: releaseAttributes{Name: name, CatalogID: served.CatalogID, PublishedAt: at, Hierarchies: make([]releaseHierarchy, len(hierarchies.Nodes))},
		Relationships: releaseRelationships{listLink{relatedLink("/catalog/hierarchies")}, listLink{relatedLink("/catalog/products")},
			listLink{map[string]any{"related": nil}}},
		Meta: releaseMeta{Language: served.Locale, ReleaseStatus: "PUBLISHED", IsFullPublish: true, PercentComplete: 100, Owner: "store", CreatedAt: at, StartedAt: at, UpdatedAt: at},
	}
	for i, h := range hierarchies.Nodes {
		body.Attributes.Hierarchies[i] = releaseHierarchy{h.ID, h.Name, h.Name}
	}
	if body.Meta.TotalNodes, err = nodes.TotalCount(ctx); err != nil {
		return err
	}
	if body.Meta.TotalProducts, err = products.TotalCount(ctx); err != nil {
		return err
	}
	w.Header().Set("Content-Language", served.Locale)
	writeJSON(w, http.StatusOK, singleBody(r, body))
	return nil
}
