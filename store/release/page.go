package release

import (
	"context"

	"portico/store"
	"portico/store/release/segment"
)

// positioned reads a page of a list of total rows by their positions, which are what its cursors name. row is the
// cursor of each row but for the position. Positions hold since the release of row; if it has none, in the view's release alone,
// so that a response with cursors depends on everything in it.
func positioned[T any](ctx context.Context, v *View, row store.Cursor, page store.Page, total int, read func(start, end int) ([]T, error)) (*store.Slice[T], error) {
	b, err := page.Check(v.settings.PageLength)
	if err != nil {
		return nil, err
	}
	cursors, err := v.service.db.CursorKey(ctx)
	if err != nil {
		return nil, err
	}
	positions := map[string]int{"after": -1, "before": -1}
	for member, text := range page.Cursors {
		c, err := cursors.Parse(*text, row.List, member)
		if err != nil {
			return nil, err
		}
		positions[member] = c.Position
	}
	w := b.Window(total, positions["after"], positions["before"])
	items, err := read(w.Start, w.End)
	if err != nil {
		return nil, err
	}
	offset := w.Start
	if page.Offset != nil {
		offset = b.Offset // also past the end
	}
	thisRelease := row.Release == 0
	if thisRelease {
		row.Release = v.Release.ID
	}
	return &store.Slice[T]{Items: items, Limit: b.Limit, Offset: offset, HasPrevious: w.Start > 0, HasNext: w.End < total,
		Total: func(context.Context) (int, error) { return total, nil },
		Cursor: func(item int) string {
			if thisRelease {
				v.Reads.AddEverything()
			}
			at := row
			at.Position = w.Start + item
			return cursors.Sign(at)
		}}, nil
}

// allNodes is what follow calls the list of all nodes. No list of products has
// this name.
const allNodes = "nodes"

// follow returns the view to read a page from. A cursor of a list that is the
// same in the view's release continues there. Any other continues in its own
// release while that is kept and the shopper still sees its catalog, so that
// publishing does not change the pages of a client. CURSOR_EXPIRED after that, and
// for a release that was never served or was rolled back, which only clients with
// catalog:write may see, by its id.
//
// list is the name of a stored list, whose cursors name the release since which
// it is the same; allNodes; or empty for a list that each release computes.
func (v *View) follow(ctx context.Context, page store.Page, list string) (*View, error) {
	own := v.Release
	cursors, err := v.service.db.CursorKey(ctx)
	if err != nil {
		return nil, err
	}
	for member, text := range page.Cursors {
		c, err := cursors.Parse(*text, store.ListID{}, member)
		if err != nil {
			return nil, err
		}
		switch {
		case c.Release == 0, own != v.Release && c.Release != own.ID: // of a live list, or of two releases
			return nil, store.MismatchedCursor(member)
		case c.Release == own.ID:
			continue
		}
		since, err := v.since(ctx, list)
		if err != nil {
			return nil, err
		}
		if c.Release == since {
			continue
		}
		own, err = v.releaseOf(ctx, list, c.Release)
		if store.HasCode(err, store.NotFound) || err == nil && (own.CatalogID != v.Release.CatalogID || !own.Followable()) {
			return nil, store.ExpiredCursor(member, "points into a release of the catalog that is no longer kept, or was rolled back. Start again without a cursor.")
		}
		if err != nil {
			return nil, err
		}
	}
	if own == v.Release {
		return v, nil
	}
	v.valid.mixed.Store(true)
	earlier := *v
	earlier.Release, earlier.tree = own, &treeOnce{}
	return &earlier, nil
}

// since returns the release since which a list of follow is the same as in the view's; 0 if the view's has no such list.
func (v *View) since(ctx context.Context, list string) (int64, error) {
	switch list {
	case "":
		return v.Release.ID, nil
	case allNodes:
		return v.Release.NodesSince, nil
	}
	heads, err := v.ListHeads(ctx, []string{list})
	if head := heads[list]; head != nil {
		return head.Since, err
	}
	return 0, err
}

// releaseOf returns a kept release that has a list of follow as it has been since
// a release, or that release itself. NOT_FOUND if none is kept.
func (v *View) releaseOf(ctx context.Context, list string, since int64) (release *segment.Release, err error) {
	var found bool
	switch in := v.service.db.Reader; list {
	case "":
	case allNodes:
		release, found, err = segment.KeptReleaseWithNodes(ctx, in, v.Release.CatalogID, since)
	default:
		release, found, err = segment.KeptReleaseWithList(ctx, in, v.Release.CatalogID, list, since)
	}
	if found || err != nil {
		return release, err
	}
	return segment.KeptRelease(ctx, v.service.db.Reader, since)
}
