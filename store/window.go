package store

import "context"

// window is the part of an immutable list, by position, that a page asks for.
type window struct {
	start, end int
}

// window works out the positions of a page of a list of total rows. after and
// before are positions, or -1.
func (b bounds) window(total, after, before int) window {
	low, high := 0, total
	if after >= 0 {
		low = min(after+1, total)
	}
	if before >= 0 {
		high = max(low, min(before, total))
	}
	low = min(low+b.offset, high)
	w := window{start: low, end: high}
	if b.backward {
		w.start = max(low, high-b.limit)
	} else {
		w.end = min(high, low+b.limit)
	}
	return w
}

// positioned reads a page of a list of total rows, whose positions are fixed
// in the view's release. The rows' cursors are like the one given.
func positioned[T any](v *View, row cursor, page Page, total int, read func(start, end int) ([]T, error)) (*Slice[T], error) {
	b, err := page.check(v.pageLength)
	if err != nil {
		return nil, err
	}
	after, err := cursorPosition(b.after, row.List, "after")
	if err != nil {
		return nil, err
	}
	before, err := cursorPosition(b.before, row.List, "before")
	if err != nil {
		return nil, err
	}
	w := b.window(total, after, before)
	items, err := read(w.start, w.end)
	if err != nil {
		return nil, err
	}
	offset := w.start
	if page.Offset != nil {
		offset = b.offset // also past the end
	}
	row.Release = v.Release.ID
	return &Slice[T]{Items: items, Limit: b.limit, Offset: offset, HasPrevious: w.start > 0, HasNext: w.end < total,
		Total: func(context.Context) (int, error) { return total, nil },
		Cursor: func(item int) string {
			at := row
			at.Position = w.start + item
			return at.String()
		}}, nil
}

func cursorPosition(text, name, member string) (int, error) {
	if text == "" {
		return -1, nil
	}
	c, err := parseCursor(text, name, member)
	return c.Position, err
}

// follow returns the view that a page is read from: a cursor is read on in
// its own release while that is kept and its catalog is still this shopper's,
// so that publishing disturbs nobody who pages. CURSOR_EXPIRED after that.
func (v *View) follow(ctx context.Context, page Page) (*View, error) {
	own := v.Release
	for member, text := range page.cursors {
		c, err := parseCursor(*text, "", member)
		if err != nil {
			return nil, err
		}
		switch {
		case c.Release == 0, own != v.Release && c.Release != own.ID: // of a live list, or of two releases
			return nil, cursorMismatch(member)
		case c.Release == own.ID:
			continue
		}
		own, err = v.store.keptRelease(ctx, c.Release)
		if HasCode(err, NotFound) || err == nil && (own.CatalogID != v.Release.CatalogID || own.Preview) {
			return nil, &Error{Code: CursorExpired, Path: []string{member},
				Detail: "points into a release of the catalog that is no longer kept; start again without it"}
		}
		if err != nil {
			return nil, err
		}
	}
	if own == v.Release {
		return v, nil
	}
	v.valid.moot.Store(true)
	earlier := *v
	earlier.Release, earlier.memo = own, &treeMemo{}
	return &earlier, nil
}
