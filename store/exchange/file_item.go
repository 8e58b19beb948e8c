package exchange

import (
	"context"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// FileItemInput is a file in filesUpsert: what changes of it.
type FileItemInput struct {
	ID       *string `json:"id,omitempty"`
	FileName *string `json:"fileName,omitempty"`
	MimeType *string `json:"mimeType,omitempty"`
	Public   *bool   `json:"public,omitempty"`
	Href     *string `json:"href,omitempty"`
	Width    *int    `json:"width,omitempty"`
	Height   *int    `json:"height,omitempty"`

	CreatedAt *time.Time `json:"createdAt,omitempty"`
}

// UpsertFiles creates files and changes members of existing ones, all or none. An item without an id is a
// new file. A new file was created now, unless its item has another time.
func (s *Service) UpsertFiles(ctx context.Context, actor store.Actor, items []*FileItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	now := store.FormatTime(s.db.Now())
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.FileKind, count: len(items),
		identify: func(context.Context, db.Session) ([]string, store.Errors, error) {
			return ownOrNewIDs(len(items), func(i int) *string { return items[i].ID }), nil, nil
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			if before == nil {
				p.Set(now, "meta", "timestamps", "created_at")
			}
			items[i].patch(p)
			return p
		},
	}, dryRun)
}

// patch adds what the item changes. Afterwards the file has both a width and a height, or neither.
func (item *FileItemInput) patch(p *itemPatch) {
	put(p, "file_name", "file_name", item.FileName)
	put(p, "mime_type", "mime_type", item.MimeType)
	put(p, "public", "public", item.Public)
	put(p, "href", "link.href", item.Href)
	if item.CreatedAt != nil {
		p.Set(store.FormatTime(*item.CreatedAt), "meta", "timestamps", "created_at")
	}
	if item.Width == nil && item.Height == nil && p.null("width") && p.null("height") {
		p.Set(nil, "meta", "dimensions")
		return
	}
	width := item.Width != nil || p.hasSize() && !p.null("width")
	if height := item.Height != nil || p.hasSize() && !p.null("height"); width != height {
		missing, other := "width", "height"
		if width {
			missing, other = other, missing
		}
		p.faults = append(p.faults, store.Invalidf([]string{missing}, "is required with a %s; send both, or null for both", other))
	}
	put(p, "width", "meta.dimensions.width", item.Width)
	put(p, "height", "meta.dimensions.height", item.Height)
}

// hasSize reports whether the stored file has a width and height.
func (p *itemPatch) hasSize() bool {
	var file catalog.File
	return p.before != nil && store.Decode(p.before, &file) == nil && file.Meta.Dimensions != nil
}
