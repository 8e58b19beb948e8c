package segment

import (
	"cmp"
	"fmt"
	"math"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
)

// A block returns each product's id, price, breadcrumbs, files and documents.
func TestBlock(t *testing.T) {
	t.Parallel()
	reader := &Reader{Release: &Release{ID: 3, Ordinals: 100, PublishedAt: store.FromMicros(77)}}
	rapid.Check(t, func(t *rapid.T) {
		products := make([]*BlockProduct, rapid.IntRange(1, BlockProducts).Draw(t, "products"))
		for i := range products {
			products[i] = &BlockProduct{ID: rapid.StringMatching(`[a-z-]*`).Draw(t, "id"), PublishedAt: rapid.Int64Min(0).Draw(t, "published"),
				Offers:     rapid.SampledFrom([]string{"", "=USD retail 1999 0 \n", "%EUR a []\n"}).Draw(t, "offers"),
				Components: rapid.SampledFrom([][]uint32{nil, {0}, {math.MaxUint32, 5, 5}}).Draw(t, "components"),
				Crumbs:     []byte(rapid.String().Draw(t, "crumbs")), Files: []byte(rapid.String().Draw(t, "files")),
				Documents: map[string][]byte{"": []byte("base" + rapid.String().Draw(t, "base"))}}
			if rapid.Bool().Draw(t, "translated") {
				products[i].Documents["fr"] = []byte("fr" + rapid.String().Draw(t, "fr"))
			}
		}
		block := productBlock{to: &StoredProducts{}}
		defer block.to.Release()
		for range 2 { // a block is read again after another
			require.NoError(t, block.open(PackBlock(products)))
			for i, p := range products {
				want := StoredProduct{ID: p.ID, PublishedAt: cmp.Or(p.PublishedAt, 77), Components: p.Components, Offers: p.Offers, Crumbs: string(p.Crumbs), Files: string(p.Files)}
				var got StoredProduct
				require.NoError(t, reader.readCommon(&got, 5, &block, i))
				require.Equal(t, want, got)
				for _, languages := range [][]string{nil, {"fr"}, {"it", "fr"}} {
					language, document, _, err := block.best(languages, i)
					require.NoError(t, err)
					if p.Documents["fr"] == nil || languages == nil {
						require.Equal(t, [2]string{"", string(p.Documents[""])}, [2]string{language, document})
					} else {
						require.Equal(t, [2]string{"fr", string(p.Documents["fr"])}, [2]string{language, document})
					}
				}
			}
		}
	})
}

// If this layout changes, raise ReleaseFormat.
func TestBlockLayout(t *testing.T) {
	t.Parallel()
	rest := PackBlock([]*BlockProduct{
		{ID: "anvil", PublishedAt: 5, Offers: "=USD r 1 0 \n", Components: []uint32{7, 12}, Crumbs: []byte("c"), Files: []byte("f"), Documents: map[string][]byte{"": []byte("An anvil."), "fr": []byte("Une enclume.")}},
		{ID: "brush", Documents: map[string][]byte{"": []byte("A brush.")}}})
	var parts []string
	for ok := true; len(rest) > 0; {
		var part []byte
		part, rest, ok = cutBytes(rest)
		require.True(t, ok)
		if len(parts) != 1 && len(parts) != 3 { // not a language
			var err error
			part, err = s2.Decode(nil, part)
			require.NoError(t, err)
		}
		parts = append(parts, string(part))
	}
	require.Equal(t, []string{"\x1banvil\n@5\n+7 12\n=USD r 1 0 \n\x01c\x01f\x06brush\n\x00\x00", "", "\x09An anvil.\x08A brush.", "fr", "\x0cUne enclume.\x00"}, parts)
	require.Equal(t, 4, BlockProducts)
}

// A damaged block is an error, and no panic.
func TestDamagedBlock(t *testing.T) {
	t.Parallel()
	packed := PackBlock([]*BlockProduct{{ID: "anvil", Documents: map[string][]byte{"": []byte("An anvil."), "fr": []byte("Une enclume.")}}})
	reader := &Reader{Release: &Release{}}
	read := func(body []byte, position int) error {
		block := productBlock{to: &StoredProducts{}}
		defer block.to.Release()
		if err := block.open(body); err != nil {
			return err
		}
		if err := reader.readCommon(&StoredProduct{}, 0, &block, position); err != nil {
			return err
		}
		language, _, _, err := block.best([]string{"fr"}, position)
		if err == nil && language != "fr" {
			err = errDamagedBlock // a translation is lost
		}
		return err
	}
	require.NoError(t, read(packed, 0))
	require.Error(t, read(packed, 1))
	for cut := range packed {
		require.Error(t, read(packed[:cut], 0), "%d of %d bytes", cut, len(packed))
	}
	rapid.Check(t, func(t *rapid.T) { _ = read(rapid.SliceOf(rapid.Byte()).Draw(t, "body"), 0) })
}

// Files that are stored with a product are those of its texts.
func TestFileTexts(t *testing.T) {
	t.Parallel()
	var texts []byte
	for i := range 3 {
		texts = AppendText(texts, fmt.Sprintf(`{"type":"file","id":"photo-%d","file_name":"a.jpg","mime_type":"image/jpeg","public":true,"link":{"href":"https://cdn.example/a.jpg"},"meta":{"timestamps":{"created_at":""}}}`, i))
	}
	files, err := ParseFiles(string(texts))
	require.NoError(t, err)
	require.Len(t, files, 3)
	require.Equal(t, "photo-2", files[2].ID)
	_, err = ParseFiles(string(texts[:len(texts)-1]))
	require.Error(t, err)
}
