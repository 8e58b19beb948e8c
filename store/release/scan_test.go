package release

import (
	"cmp"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/catalog"
	"portico/store/index"
)

// scanned is a released product with that body from its relationships on.
func scanned(t *testing.T, relationships string) (fast, slow *productRefs, ok bool) {
	t.Helper()
	const head = `{"id":"p"`
	body := head + `,"relationships":{` + relationships + `},"meta":{}}`
	fast, slow = &productRefs{}, &productRefs{}
	require.NoError(t, slow.decode(body))
	return fast, slow, fast.scan(body[len(head):])
}

// What is read by the way it was written is what encoding/json reads.
func TestRelationshipsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	photos := &index.StringList{}
	photos.Add("photo-1")
	photos.Add("photo-2")
	for name, c := range map[string]struct {
		source string // its relationships, as imported
		links  catalog.Links
	}{
		"a product without any": {"", catalog.Links{Files: photos}},
		"a child with files": {
			`{"main_image":{"data":{"type":"main_image","id":"photo-1"}},"files":{"data":[{"type":"file","id":"photo-1","created_at":"2024-01-01T00:00:00.000Z"},{"type":"file","id":"photo-2"},{"type":"file","id":"gone"}]}}`,
			catalog.Links{Parent: "parent", Files: photos}},
		"a parent": {"", catalog.Links{Children: []string{"a", "b_c"}, Files: photos}},
		"a bundle": {
			`{"component_products":{"data":[{"type":"product","id":"x"},{"type":"product","id":"y"},{"type":"product","id":"gone"}]}}`,
			catalog.Links{Components: map[string]bool{"x": true, "y": true}, Files: photos}},
	} {
		t.Run(name, func(t *testing.T) {
			product := &catalog.ProductSource{ID: "p"}
			require.NoError(t, json.Unmarshal([]byte(`{"relationships":`+cmp.Or(c.source, "{}")+`}`), product))
			written := string(product.AppendRelationships([]byte("{"), c.links))[1:]
			fast, slow, ok := scanned(t, written)
			require.True(t, ok, written)
			require.Equal(t, slow.parent, fast.parent)
			require.Equal(t, slow.image, fast.image)
			require.Equal(t, slow.children, fast.children)
			require.Equal(t, slow.components, fast.components)
			require.Len(t, fast.files, len(slow.files))
			for i := range slow.files {
				require.Equal(t, slow.files[i], fast.files[i])
			}
		})
	}
}

func TestOtherRelationshipsAreLeftToJSON(t *testing.T) {
	t.Parallel()
	for _, other := range []string{
		`"files":{"data":[]},"children":{"data":[]}`,
		`"children":{"data":[{"type":"product","id":"a"}],"links":{"self":"/"}},"files":{"data":[]},"main_image":{"data":null},"component_products":{"data":[],"links":{"self":"/"}}`,
		`"children": {"data":[]}`,
	} {
		_, _, ok := scanned(t, other)
		require.False(t, ok, other)
	}
}
