package release

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What the releases of earlier formats said where there was nothing to say is left
// out, and nothing that the merchant wrote.
func TestDocumentsOfEarlierFormatsAreReadAsNewOnes(t *testing.T) {
	t.Parallel()
	const nobody = `{"id":"a","type":"product","attributes":{"name":"\\",\"components\":{}","base_product":false`
	const times = `"created_at":"2024-01-01T00:00:00.000","updated_at":"2024-01-01T00:00:00.000"`
	const merchant = `"custom_inputs":{"a":"","base_product_id":"","components":{},"custom_inputs":{}},"extensions":{},"shopper_attributes":{"base_product_id":"","components":{}}`
	const edges = `"children":{"data":[{"parent":{"data":null},"id":"b"}]}}`
	const part = `"components":{"part":{"name":"Part","min":0,"max":1,"sort_order":1,"options":[]}}`
	for name, c := range map[string]struct{ attributes, rest, wantAttributes, wantRest string }{
		"a product without any": {
			nobody + `,"base_product_id":"",` + times + `,"components":{},` + merchant, `,"relationships":{"parent":{"data":null},` + edges,
			nobody + `,` + times + `,` + merchant, `,"relationships":{` + edges},
		"a bundle": {
			nobody + `,"base_product_id":"",` + times + `,` + part + `,` + merchant, `,"relationships":{"parent":{"data":null},` + edges,
			nobody + `,` + times + `,` + part + `,` + merchant, `,"relationships":{` + edges},
		"a child": {
			nobody + `,"base_product_id":"b",` + times + `,"components":{},` + merchant, `,"relationships":{"parent":{"data":{"id":"b","type":"product"}},` + edges,
			nobody + `,"base_product_id":"b",` + times + `,` + merchant, `,"relationships":{"parent":{"data":{"id":"b","type":"product"}},` + edges},
	} {
		t.Run(name, func(t *testing.T) {
			attributes, rest := withoutEmpty(c.attributes, c.rest)
			require.Equal(t, c.wantAttributes, attributes)
			require.Equal(t, c.wantRest, rest)
		})
	}
}
