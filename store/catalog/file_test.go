package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestReadFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file File
		fast bool
	}{
		"an image":     {File{Type: "file", ID: "f", FileName: "chaise longue à l'ombre.jpg", MimeType: "image/jpeg", Public: true, Link: FileHref{"https://cdn.example/a.jpg"}, Meta: FileMeta{FileTimes{"2024-01-01T00:00:00.000Z"}, &FileDimensions{4800, 0}}}, true},
		"a document":   {File{Type: "file", ID: "f", FileName: "a.pdf", Link: FileHref{"/a.pdf"}}, true},
		"an odd name":  {File{Type: "file", ID: "f", FileName: `a "b" \ <c>`, Link: FileHref{"/a"}}, true},
		"a huge image": {File{Type: "file", ID: "f", FileName: "a", Link: FileHref{"/a"}, Meta: FileMeta{Dimensions: &FileDimensions{1234567890, 1}}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			document := string(store.Encode(&c.file))
			require.Equal(t, c.fast, (&File{}).scan(document))
			got, err := ReadFile(document)
			require.NoError(t, err)
			require.Equal(t, document, got.json)
			got.json = ""
			require.Equal(t, &c.file, got)
		})
	}
}
