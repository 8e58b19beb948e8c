package publish

import (
	"context"
	"strconv"

	"portico/store"
	"portico/store/publish/compare"
	"portico/store/release/segment"
)

// DiffReleases returns what differs between two kept releases of a catalog, from the first to the second. Releases of
// one base are compared by what changed since, others by all their products. most bounds the list, not the counts.
// NOT_FOUND for a release that is not kept; UNPROCESSABLE for releases of two catalogs, for a release of another
// format, and if all products have to be compared and a release has more than mostProducts; 0 is no bound.
func (s *Service) DiffReleases(ctx context.Context, from, to string, most, mostProducts int) (*compare.Differences, error) {
	var sides [2]*compare.StoredSide
	for i, id := range []string{from, to} {
		member := []string{"from_id", "to_id"}[i]
		r, err := s.keptRelease(ctx, member, id)
		if err != nil {
			return nil, err
		}
		if r.Format != segment.ReleaseFormat {
			return nil, store.Unprocessablef([]string{member}, "must be a release of this version's format; release %d has another one. Publish the catalog %q again.", r.ID, r.CatalogID)
		}
		sides[i] = compare.NewStoredSide(s.db, s.releases.ViewOf(r))
	}
	before, now := sides[0].Release(), sides[1].Release()
	if before.CatalogID != now.CatalogID {
		return nil, store.Unprocessablef([]string{"to_id"}, "must be a release of the same catalog: release %d is of %q, and release %d of %q", before.ID, before.CatalogID, now.ID, now.CatalogID)
	}
	c := &compare.Comparison{Before: sides[0], Now: sides[1]}
	shared := sharedLayers(before, now)
	if products := max(before.Products, now.Products); shared == 0 && mostProducts > 0 && products > mostProducts {
		return nil, store.Unprocessablef([]string{"to_id"}, "must be a release of at most %d products to be compared with one of another base, got %d", mostProducts, products)
	}
	for _, side := range sides {
		files, err := compare.FileIDsIn(ctx, s.db.Reader, side.Release().Layers()[shared:])
		if err != nil {
			return nil, err
		}
		c.FileIDs = append(c.FileIDs, files...)
	}
	if err := compareStored(ctx, c, sides); err != nil {
		return nil, err
	}
	return c.Differences(ctx, most)
}

// compareStored compares the products of two releases: those of the layers that they do not share.
func compareStored(ctx context.Context, c *compare.Comparison, sides [2]*compare.StoredSide) error {
	ids, shared := map[string]bool{}, sharedLayers(sides[0].Release(), sides[1].Release())
	for _, side := range sides {
		if err := compare.IdsIn(ctx, side.View, side.Release().Layers()[shared:], ids); err != nil {
			return err
		}
	}
	return c.CompareProducts(ctx, compare.SortedIDs(ids))
}

// keptRelease returns a kept release by its number; NOT_FOUND with the member otherwise.
func (s *Service) keptRelease(ctx context.Context, member, id string) (*segment.Release, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err == nil {
		var found *segment.Release
		if found, err = segment.KeptRelease(ctx, s.db.Reader, number); err == nil {
			return found, nil
		}
		if !store.HasCode(err, store.NotFound) {
			return nil, err
		}
	}
	return nil, store.NotFoundf([]string{member}, "must be the number of a release that is kept, got %q. catalogReleases lists them.", store.Abbreviate(id))
}

// sharedLayers returns how many layers two releases share, from the base on. The others hold all that differs, unless they
// share none.
func sharedLayers(a, b *segment.Release) (n int) {
	first, second := a.LayerIDs(), b.LayerIDs()
	for n < min(len(first), len(second)) && first[n] == second[n] {
		n++
	}
	return n
}
