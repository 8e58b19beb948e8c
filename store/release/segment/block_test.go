package segment

import (
	"fmt"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A block returns each product's row, files and documents.
func TestBlock(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		products := make([]*BlockProduct, rapid.IntRange(1, BlockProducts).Draw(t, "products"))
		for i := range products {
			products[i] = &BlockProduct{Row: rapid.String().Draw(t, "row"), Files: []byte(rapid.String().Draw(t, "files")),
				Documents: map[string][]byte{"": []byte("base" + rapid.String().Draw(t, "base"))}}
			if rapid.Bool().Draw(t, "translated") {
				products[i].Documents["fr"] = []byte("fr" + rapid.String().Draw(t, "fr"))
			}
		}
		packed, to := PackBlock(products), &StoredProducts{}
		defer to.Release()
		block := productBlock{body: packed, to: to}
		for i, want := range products {
			row, files, err := block.common(i)
			require.NoError(t, err)
			require.Equal(t, [2]string{want.Row, string(want.Files)}, [2]string{row, files})
			for _, language := range []string{"fr", ""} {
				document, err := block.document(language, i)
				if want.Documents[language] == nil {
					require.Error(t, err)
				} else {
					require.NoError(t, err)
				}
				require.Equal(t, string(want.Documents[language]), document)
			}
		}
	})
}

// If this layout changes, raise ReleaseFormat.
func TestBlockLayout(t *testing.T) {
	t.Parallel()
	rest := PackBlock([]*BlockProduct{
		{Row: "anvil", Files: []byte("f"), Documents: map[string][]byte{"": []byte("An anvil."), "fr": []byte("Une enclume.")}},
		{Row: "brush", Documents: map[string][]byte{"": []byte("A brush.")}}})
	var parts []string
	for ok := true; len(rest) > 0; {
		var part []byte
		part, rest, ok = cutSection(rest)
		require.True(t, ok)
		if len(parts) != 1 && len(parts) != 3 { // not a language
			var err error
			part, err = s2.Decode(nil, part)
			require.NoError(t, err)
		}
		parts = append(parts, string(part))
	}
	require.Equal(t, []string{"\x05anvil\x01f\x05brush\x00", "", "\x09An anvil.\x08A brush.", "fr", "\x0cUne enclume.\x00"}, parts)
	require.Equal(t, 4, BlockProducts)
}

// A damaged block is an error, and no panic.
func TestDamagedBlock(t *testing.T) {
	t.Parallel()
	packed := PackBlock([]*BlockProduct{{Row: "anvil", Documents: map[string][]byte{"": []byte("An anvil."), "fr": []byte("Une enclume.")}}})
	read := func(body []byte, position int) (err error) {
		to := &StoredProducts{}
		defer to.Release()
		block := productBlock{body: body, to: to}
		_, _, err = block.common(position)
		if err == nil {
			_, err = block.document("fr", position)
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
