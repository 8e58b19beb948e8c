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
var ProductTextMembers = [...]ProductTextMember{
	textMember("description", authoring.MaxDescription, true),
	textMember("commodity_type", 0, false),
	textMember("upc_ean", authoring.MaxName, false),
	textMember("manufacturer_part_num", authoring.MaxName, false),
	textMember("external_ref", 0, false),
}

// ProductTextMember describes a member of ProductTexts.
type ProductTextMember struct {
	Name       string // GraphQL has it in camel case
	Path       string // in an import line, with dots
	Limit      int    // in bytes; 0 for a text that imports do not check
	Translated bool   // a document has it in its language, in another place
	prefix     string // in a document
}

func textMember(name string, limit int, translated bool) ProductTextMember {
	return ProductTextMember{Name: name, Path: "attributes." + name, Limit: limit, Translated: translated, prefix: `,"` + name + `":`}
}

// appendTexts appends the texts to a document, without those that are translated.
func appendTexts(dst []byte, texts *ProductTexts[string]) []byte {
	for i, text := range texts.All() {
		if m := &ProductTextMembers[i]; !m.Translated {
			dst = store.AppendMember(dst, m.Name, *text)
		}
	}
	return dst
}

// ProductTexts parses what appendTexts appends.
func (s *DocumentScanner) ProductTexts(texts *ProductTexts[string]) {
	for i, text := range texts.All() {
		if m := &ProductTextMembers[i]; !m.Translated {
			*text = s.Member(m.prefix)
		}
	}
}
