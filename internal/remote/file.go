package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"path"
)

// wireFile is a file, as the server sends it and as the import format has it.
type wireFile struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	FileName string `json:"file_name"`
	MimeType string `json:"mime_type,omitempty"`
	Public   bool   `json:"public"`
	Link     struct {
		Href string `json:"href"`
	} `json:"link"`
	Meta struct {
		Timestamps struct {
			CreatedAt string `json:"created_at,omitempty"`
		} `json:"timestamps"`
		Dimensions *dimensions `json:"dimensions,omitempty"`
	} `json:"meta"`
}

type dimensions struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// fetchFiles writes the files that no product brought with it.
func (f *fetcher) fetchFiles(ctx context.Context) error {
	if err := f.loadKnown(); err != nil {
		return err
	}
	return f.optional("files of no product", f.each(ctx, "files", "files", resourceList{path: "/v2/files"}, func(p *page) error { return f.writeFiles(p.Data) }))
}

// writeFiles writes files that are not known yet. Their content stays where it is.
func (f *fetcher) writeFiles(list []json.RawMessage) error {
	for _, raw := range list {
		var found wireFile
		if err := decodeRow("file", raw, &found); err != nil {
			return err
		}
		if f.files[found.ID] {
			continue
		}
		f.files[found.ID] = true
		found.Type, found.FileName = "file", cmp.Or(found.FileName, path.Base(found.Link.Href))
		found.Meta.Timestamps.CreatedAt = utc(found.Meta.Timestamps.CreatedAt)
		if err := f.folder.write("files", found); err != nil {
			return err
		}
	}
	return nil
}
