package publish

import (
	"context"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/publish/compare"
	"portico/store/release/segment"
)

// PendingResource is a resource that was written since the served release of a catalog was made.
type PendingResource struct {
	Kind    compare.ResourceKind
	ID      string                   // or the SKU of a price
	Product *catalog.AuthoredProduct // nil unless it is a product that exists
	Effect  *compare.PendingEffect   // nil unless it is a product
}

// Pending is a page of pending changes. Unless Complete, others may be pending too: nothing is published, or too
// much changed since.
type Pending struct {
	*store.Slice[*PendingResource]
	Complete bool
}

// PendingChanges lists what was written since the served release of a catalog was made, and may change with its
// next publication, by kind and id. It returns NOT_FOUND for an unknown catalog. It does not compare as store/publish/compare
// does: that reads both sides of all that changed, which needs the plan of a publication, while a page costs what its rows do.
func (s *Service) PendingChanges(ctx context.Context, catalogID string, page store.Page) (*Pending, error) {
	plan := &publicationPlan{in: s.db.Reader}
	if err := plan.readCatalog(ctx, catalogID); err != nil {
		return nil, err
	}
	var served *segment.Release
	revision := int64(0)
	if plan.served != 0 {
		var err error
		if served, err = segment.KeptRelease(ctx, s.db.Reader, plan.served); err != nil && !store.HasCode(err, store.NotFound) {
			return nil, err
		}
		if served != nil {
			revision = served.Revision
		}
	}
	complete, err := authoring.ChangesKnownSince(ctx, s.db.Reader, revision)
	if err != nil {
		return nil, err
	}
	slice, err := db.List(ctx, s.db, authoring.PendingList(catalogID, revision), store.ListQuery{Sort: store.Sort{By: store.SortName}, Page: page})
	if err != nil {
		return nil, err
	}
	resources, err := s.pendingResources(ctx, slice.Items, served)
	return &Pending{&store.Slice[*PendingResource]{Items: resources, Limit: slice.Limit, Offset: slice.Offset, HasNext: slice.HasNext,
		HasPrevious: slice.HasPrevious, Total: slice.Total, Cursor: slice.Cursor}, complete && served != nil}, err
}

// pendingResources returns changes as resources, products with what the next publication does to them. served is nil if nothing
// is served, or the served release was swept.
func (s *Service) pendingResources(ctx context.Context, changes []*authoring.PendingChange, served *segment.Release) ([]*PendingResource, error) {
	resources := make([]*PendingResource, len(changes))
	var ids []string
	for i, c := range changes {
		resources[i] = &PendingResource{Kind: compare.ResourceKind(c.Table), ID: c.ID}
		if resources[i].Kind == compare.ResourceProduct {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return resources, nil
	}
	products, err := authoring.ReadRowsByID(ctx, s.db.Reader, catalog.ProductList, ids)
	if err != nil {
		return nil, err
	}
	shown := map[string]segment.Ordinal{}
	if served != nil {
		if shown, err = s.releases.ViewOf(served).OrdinalsByID(ctx, ids, nil); err != nil {
			return nil, err
		}
	}
	for _, r := range resources {
		if r.Kind != compare.ResourceProduct {
			continue
		}
		r.Product = products[r.ID]
		_, isShown := shown[r.ID]
		r.Effect = new(compare.EffectOf(r.Product != nil && r.Product.Status == catalog.ProductLive, isShown))
	}
	return resources, nil
}
