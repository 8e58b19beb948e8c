package release

import (
	"context"

	"portico/store"
	"portico/store/release/segment"
)

// positioned reads a page of a list of total rows, whose positions are fixed in
// the view's release. row is the template of the rows' cursors.
func positioned[T any](v *View, row store.Cursor, page store.Page, total int, read func(start, end int) ([]T, error)) (*store.Slice[T], error) {
	b, err := page.Check(v.pageLength)
	if err != nil {
		return nil, err
	}
	after, err := cursorPosition(b.After, row.List, "after")
	if err != nil {
		return nil, err
	}
	before, err := cursorPosition(b.Before, row.List, "before")
	if err != nil {
		return nil, err
	}
	w := b.Window(total, after, before)
	items, err := read(w.Start, w.End)
	if err != nil {
		return nil, err
	}
	offset := w.Start
	if page.Offset != nil {
		offset = b.Offset // also past the end
	}
	row.Release = v.Release.ID
	return &store.Slice[T]{Items: items, Limit: b.Limit, Offset: offset, HasPrevious: w.Start > 0, HasNext: w.End < total,
		Total: func(context.Context) (int, error) { return total, nil },
		Cursor: func(item int) string {
			at := row
			at.Position = w.Start + item
			return at.String()
		}}, nil
}

func cursorPosition(text, name, member string) (int, error) {
	if text == "" {
		return -1, nil
	}
	c, err := store.ParseCursor(text, name, member)
	return c.Position, err
}

// follow returns the view to read a page from. A cursor continues in its own
// release while that is kept and the shopper still sees its catalog, so that
// publishing does not change the pages of a client. CURSOR_EXPIRED after that.
func (v *View) follow(ctx context.Context, page store.Page) (*View, error) {
	own := v.Release
	for member, text := range page.Cursors {
		c, err := store.ParseCursor(*text, "", member)
		if err != nil {
			return nil, err
		}
		switch {
		case c.Release == 0, own != v.Release && c.Release != own.ID: // of a live list, or of two releases
			return nil, store.MismatchedCursor(member)
		case c.Release == own.ID:
			continue
		}
		own, err = segment.KeptRelease(ctx, v.service.db.Reader, c.Release)
		if store.HasCode(err, store.NotFound) || err == nil && (own.CatalogID != v.Release.CatalogID || own.Preview) {
			return nil, &store.Error{Code: store.CursorExpired, Path: []string{member},
				Detail: "points into a release of the catalog that is no longer kept. Start again without a cursor."}
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
