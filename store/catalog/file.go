package catalog

import (
	"encoding/json"
	"strings"
	"time"

	"portico/store"
	"portico/store/authoring"
)

// File is an image or another document of a product.
type File struct {
	Type     string   `json:"type"`
	ID       string   `json:"id"`
	FileName string   `json:"file_name"`
	MimeType string   `json:"mime_type"`
	Public   bool     `json:"public"`
	Link     FileHref `json:"link"`
	Meta     FileMeta `json:"meta"`

	json string // the stored JSON
}

// FileHref is a file's URL.
type FileHref struct {
	Href string `json:"href"`
}

// FileMeta holds a file's times and, for an image, its size in pixels.
type FileMeta struct {
	Timestamps FileTimes       `json:"timestamps"`
	Dimensions *FileDimensions `json:"dimensions,omitempty"`
}

// FileTimes are in RFC 3339, UTC.
type FileTimes struct {
	CreatedAt string `json:"created_at"`
}

// FileDimensions are in pixels.
type FileDimensions struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

func (f *File) Key() string { return f.ID }

func (f *File) Check(fault *authoring.Validator) {
	fault.ID("id", &f.ID)
	fault.Required("file_name", f.FileName, authoring.MaxName)
	fault.Text("mime_type", f.MimeType, authoring.MaxName)
	fault.Required("link.href", f.Link.Href, 4096)
	if href := f.Link.Href; href != "" && !IsURL(href) && !strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "data:") {
		fault.Warn("link.href", "is no address that browsers can load; begin with https://, got %q", store.Abbreviate(href))
	} else if strings.Contains(href, " ") && !strings.HasPrefix(href, "data:") {
		fault.Warn("link.href", "has a space, which a URL cannot have; write %%20, got %q", store.Abbreviate(href))
	}
	if size := f.Meta.Dimensions; size != nil {
		fault.Between("meta.dimensions.width", size.Width, 0, store.MaxCount)
		fault.Between("meta.dimensions.height", size.Height, 0, store.MaxCount)
	}
	fault.Time("meta.timestamps.created_at", &f.Meta.Timestamps.CreatedAt)
}

// AppendJSON appends the file's JSON.
func (f *File) AppendJSON(dst []byte) []byte { return append(dst, f.json...) }

// JSONSize is the length of the file's JSON in bytes.
func (f *File) JSONSize() int { return len(f.json) }

// GlobalID returns the file's global id.
func (f *File) GlobalID() string { return store.GlobalID(store.TypeFile, f.ID) }

// Href is the file's URL.
func (f *File) Href() string { return f.Link.Href }

// MediaType is the MimeType; nil if unknown.
func (f *File) MediaType() *string { return store.NonEmptyAt(&f.MimeType) }

// CreatedAt is when the file was created; nil if unknown.
func (f *File) CreatedAt() *time.Time { return timeOrNil(f.Meta.Timestamps.CreatedAt) }

// Width is in pixels; nil if the file is not an image.
func (f *File) Width() *int {
	if f.Meta.Dimensions == nil || f.Meta.Dimensions.Width == 0 {
		return nil
	}
	return &f.Meta.Dimensions.Width
}

// Height is in pixels; nil if the file is not an image.
func (f *File) Height() *int {
	if f.Meta.Dimensions == nil || f.Meta.Dimensions.Height == 0 {
		return nil
	}
	return &f.Meta.Dimensions.Height
}

// ReadFile parses a file's JSON. The file keeps the memory of the document.
func ReadFile(document string) (*File, error) {
	f := &File{}
	return f, f.read(document)
}

// ReadFiles is ReadFile for several documents. The files share their memory.
func ReadFiles(documents []string) ([]*File, error) {
	files, list := make([]File, len(documents)), make([]*File, len(documents))
	for i, document := range documents {
		list[i] = &files[i]
		if err := list[i].read(document); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// read is ReadFile into f.
func (f *File) read(document string) error {
	*f = File{json: document}
	if f.scan(document) {
		return nil
	}
	*f = File{json: document}
	return json.Unmarshal([]byte(document), f)
}

// scan parses the form that store.Encode writes. It returns false for another, and may have set members then.
func (f *File) scan(document string) bool {
	s := DocumentScanner{Input: document}
	member := func(name string) string { s.Skip(name); return s.Text() }
	f.Type = member(`{"type":"`)
	f.ID = member(`,"id":"`)
	f.FileName = member(`,"file_name":"`)
	f.MimeType = member(`,"mime_type":"`)
	s.Skip(`,"public":`)
	f.Public = s.Boolean()
	f.Link.Href = member(`,"link":{"href":"`)
	f.Meta.Timestamps.CreatedAt = member(`},"meta":{"timestamps":{"created_at":"`)
	s.Skip(`}`)
	if s.TrySkip(`,"dimensions":{"width":`) {
		f.Meta.Dimensions = &FileDimensions{Width: s.number()}
		s.Skip(`,"height":`)
		f.Meta.Dimensions.Height = s.number()
		s.Skip(`}`)
	}
	s.Skip(`}}`)
	return !s.Failed && len(s.Input) == 0
}

// Size is about the bytes of the file in a cache: its JSON, as much again for texts with escapes, and the struct.
func (f *File) Size() int { return 2*len(f.json) + 200 }

// FileKind is the kind of files.
var FileKind = authoring.Kind{
	Name: "file", Create: func() authoring.Source { return &File{} },
	Write: fileTable.Write, Export: authoring.ExportBodies("file", "id"),
	Delete: authoring.RemoveRows("file"), Published: true, Whole: &fileTable,
	Inputs: store.PathRenames{{"link.href", "href"}, {"link", "href"}, {"meta.dimensions.*", "*"}, {"meta.timestamps.*", "*"}, {"meta.*", "*"}},
}

var fileTable = authoring.Table{Name: "file", Columns: []string{"id", "body"}, Row: authoring.RowWhole}
