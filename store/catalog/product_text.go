package catalog

import (
	"portico/store"
	"portico/store/authoring"
)

// ProductTexts are the members of a product that are one text without rules for its form. T is string, or
// *string for what an item of a mutation changes.
type ProductTexts[T any] struct {
	CommodityType       T `json:"commodity_type,omitempty"`
	Description         T `json:"description,omitempty"`
	ManufacturerPartNum T `json:"manufacturer_part_num,omitempty"`
	UPCEAN              T `json:"upc_ean,omitempty"`
	ExternalRef         T `json:"external_ref,omitempty"`
}

// ProductTextMembers has a row for each of ProductTexts, in the order of documents and of CSV columns.
var ProductTextMembers = [...]ProductTextMember{
	textMember("description", authoring.MaxDescription).translated(),
	textMember("commodity_type", 0),
	textMember("upc_ean", authoring.MaxName),
	textMember("manufacturer_part_num", authoring.MaxName),
	textMember("external_ref", 0),
}

// All returns the members, in the order of ProductTextMembers.
func (t *ProductTexts[T]) All() [len(ProductTextMembers)]*T {
	return [...]*T{&t.Description, &t.CommodityType, &t.UPCEAN, &t.ManufacturerPartNum, &t.ExternalRef}
}

// ProductTextMember describes a member of ProductTexts.
type ProductTextMember struct {
	Name       string // in imports, documents, paths of errors and CSV; GraphQL spells it in camel case
	Path       string // of it in an import line, with dots
	Limit      int    // bytes; 0 for a text that is not checked
	Translated bool   // locales have it too, so that a document has it apart, in its language
	prefix     string // of it in a document
}

func textMember(name string, limit int) ProductTextMember {
	return ProductTextMember{Name: name, Path: "attributes." + name, Limit: limit, prefix: `,"` + name + `":`}
}

func (m ProductTextMember) translated() ProductTextMember {
	m.Translated = true
	return m
}

func checkTexts(f *authoring.Validator, texts *ProductTexts[string]) {
	for i, text := range texts.All() {
		if m := &ProductTextMembers[i]; m.Limit > 0 {
			f.Text(m.Path, *text, m.Limit)
		}
	}
}

// appendTexts appends the texts that are not translated to a document. DocumentScanner.ProductTexts reads them.
func appendTexts(dst []byte, texts *ProductTexts[string]) []byte {
	for i, text := range texts.All() {
		if m := &ProductTextMembers[i]; !m.Translated {
			dst = store.AppendMember(dst, m.Name, *text)
		}
	}
	return dst
}

// ProductTexts parses the texts that are not translated.
func (s *DocumentScanner) ProductTexts(texts *ProductTexts[string]) {
	for i, text := range texts.All() {
		if m := &ProductTextMembers[i]; !m.Translated {
			*text = s.Member(m.prefix)
		}
	}
}
