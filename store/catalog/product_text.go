package catalog

import (
	"portico/store"
	"portico/store/authoring"
)

// ProductTexts are the members of a product that are one text of any form. T is string, or *string for what an
// item of a mutation changes.
type ProductTexts[T any] struct {
	CommodityType       T `json:"commodity_type,omitempty"`
	Description         T `json:"description,omitempty"`
	ManufacturerPartNum T `json:"manufacturer_part_num,omitempty"`
	UPCEAN              T `json:"upc_ean,omitempty"`
	ExternalRef         T `json:"external_ref,omitempty"`
}

// All returns the members, in the order of ProductTextMembers.
func (t *ProductTexts[T]) All() [len(ProductTextMembers)]*T {
	return [...]*T{&t.Description, &t.CommodityType, &t.UPCEAN, &t.ManufacturerPartNum, &t.ExternalRef}
}

// ProductTextMembers describes ProductTexts, in the order of documents and of CSV columns.
var ProductTextMembers = [...]struct {
	Name       string // GraphQL has it in camel case
	Limit      int    // in bytes; 0 for a text that imports do not check
	Filterable bool
	Translated bool // a document has it in its language, in another place
}{
	{Name: "description", Limit: authoring.MaxDescription, Translated: true},
	{Name: "commodity_type"},
	{Name: "upc_ean", Limit: authoring.MaxName, Filterable: true},
	{Name: "manufacturer_part_num", Limit: authoring.MaxName, Filterable: true},
	{Name: "external_ref"},
}

// textPaths are the paths of the members in an import line, and textStarts what stands before their values in a
// document.
var textPaths, textStarts = textNames("attributes.", ""), textNames(`,"`, `":`)

// textNames returns the names of the members between two texts.
func textNames(before, after string) (names [len(ProductTextMembers)]string) {
	for i, m := range ProductTextMembers {
		names[i] = before + m.Name + after
	}
	return names
}

// appendTexts appends the texts to a document, without those that are translated.
func appendTexts(dst []byte, texts *ProductTexts[string]) []byte {
	for i, text := range texts.All() {
		if !ProductTextMembers[i].Translated {
			dst = store.AppendString(append(dst, textStarts[i]...), *text)
		}
	}
	return dst
}

// ProductTexts parses what appendTexts appends.
func (s *DocumentScanner) ProductTexts(texts *ProductTexts[string]) {
	for i, text := range texts.All() {
		if !ProductTextMembers[i].Translated {
			*text = s.Member(textStarts[i])
		}
	}
}
