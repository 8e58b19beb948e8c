package rest

import (
	"net/http"
	"slices"
	"strings"

	"portico/graph"
	"portico/graph/model"
	"portico/store/catalog"
)

// includeNames are the valid values of the parameter include.
var includeNames = []string{"component_products", "main_image", "files"}

// checkInclude returns INVALID for an unknown resource.
func checkInclude(text string) error {
	for _, name := range splitInclude(text) {
		if !slices.Contains(includeNames, name) {
			return invalidParameter("include", "must be a list of %s, got %q", strings.Join(includeNames, ", "), name)
		}
	}
	return nil
}

// splitInclude returns the names in a parameter include.
func splitInclude(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' })
}

// includeComponents is true if component products are to be included, else nil.
func (p *listParams) includeComponents() *bool {
	if !slices.Contains(splitInclude(p.include), "component_products") {
		return nil
	}
	yes := true
	return &yes
}

// includedResources are the resources that a page refers to, each once.
type includedResources struct {
	mainImages, files []*catalog.File
	components        []*model.Product
}

// loadIncluded reads the resources that products refer to and the parameter include requests, with one query for each kind. It
// returns nil if none were requested.
func (a *API) loadIncluded(r *http.Request, p *listParams, products []*model.Product) (*includedResources, error) {
	names := splitInclude(p.include)
	if len(names) == 0 {
		return nil, nil
	}
	var images, files []graph.FileRef
	var components []string
	for _, product := range products {
		if slices.Contains(names, "main_image") && product.MainImageID() != "" {
			images = append(images, graph.FileRef{ID: product.MainImageID(), Of: product})
		}
		if slices.Contains(names, "files") {
			for _, link := range product.FileLinks() {
				files = append(files, graph.FileRef{ID: link.ID, Of: product})
			}
		}
		if slices.Contains(names, "component_products") {
			components = append(components, product.ComponentProductIDs()...)
		}
	}
	refID := func(ref graph.FileRef) string { return ref.ID }
	images, files = uniqueBy(images, refID), uniqueBy(files, refID)
	found, err := a.resolver.FilesOf(r.Context(), slices.Concat(images, files))
	if err != nil {
		return nil, err
	}
	unknown := func(f *catalog.File) bool { return f == nil } // found has a file, or nil, for each reference: first those of images
	included := &includedResources{mainImages: slices.DeleteFunc(found[:len(images):len(images)], unknown), files: slices.DeleteFunc(found[len(images):], unknown)}
	if len(components) == 0 {
		return included, nil
	}
	components = uniqueBy(components, func(id string) string { return id })    // bundles share components
	bundled, err := a.resolver.ProductsByID(r.Context(), components, products) // products, which have them, save reads
	included.components = pickInOrder(components, bundled)
	return included, err
}

// uniqueBy removes values whose id an earlier one has.
func uniqueBy[T any](values []T, id func(T) string) []T {
	seen := make(map[string]struct{}, len(values))
	return slices.DeleteFunc(values, func(value T) bool {
		before := len(seen)
		seen[id(value)] = struct{}{}
		return len(seen) == before
	})
}

// pickInOrder returns the resources in the order of the ids, without missing ones.
func pickInOrder[T any](ids []string, byID map[string]T) []T {
	list := make([]T, 0, len(ids))
	for _, id := range ids {
		if value, ok := byID[id]; ok {
			list = append(list, value)
		}
	}
	return list
}

// append appends the resources as JSON, by kind.
func (i *includedResources) append(dst []byte, b *responseBuilder) ([]byte, error) {
	dst, err := appendList(append(dst, `{"main_images":[`...), b, i.mainImages)
	if err == nil {
		dst, err = appendList(append(dst, `],"files":[`...), b, i.files)
	}
	if err == nil {
		dst, err = appendList(append(dst, `],"component_products":[`...), b, i.components)
	}
	return append(dst, "]}"...), err
}

// appendList appends resources that encode themselves.
func appendList[T interface{ AppendJSON([]byte) []byte }](dst []byte, b *responseBuilder, list []T) ([]byte, error) {
	return appendRows(dst, b, list, func(dst []byte, resource T) []byte { return resource.AppendJSON(dst) })
}
