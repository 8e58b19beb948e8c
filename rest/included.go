package rest

import (
	"net/http"
	"slices"
	"strings"

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

// loadIncluded reads the requested resources, with one query for each kind. It returns
// nil if none were requested.
func (a *API) loadIncluded(r *http.Request, p *listParams, products []*model.Product) (*includedResources, error) {
	names := splitInclude(p.include)
	if len(names) == 0 {
		return nil, nil
	}
	var images, files, components []string
	for _, product := range products {
		if slices.Contains(names, "main_image") && product.MainImageID() != "" {
			images = append(images, product.MainImageID())
		}
		if slices.Contains(names, "files") {
			for _, link := range product.FileLinks() {
				files = append(files, link.ID)
			}
		}
		if slices.Contains(names, "component_products") {
			components = append(components, product.ComponentProductIDs()...)
		}
	}
	images, files = unique(images), unique(files)
	byID, err := a.resolver.FilesByID(r.Context(), slices.Concat(images, files), products)
	if err != nil {
		return nil, err
	}
	components = unique(components) // bundles share components
	bundled, err := a.resolver.ProductsByID(r.Context(), components, products)
	if err != nil {
		return nil, err
	}
	return &includedResources{pickInOrder(images, byID), pickInOrder(files, byID), pickInOrder(components, bundled)}, nil
}

// unique removes repeated ids.
func unique(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	return slices.DeleteFunc(ids, func(id string) bool {
		before := seen[id]
		seen[id] = true
		return before
	})
}

// pickInOrder returns the resources in the order of the ids.
func pickInOrder[T any](ids []string, byID map[string]T) []T {
	list := make([]T, 0, len(ids))
	for _, id := range ids {
		if value, ok := byID[id]; ok {
			list = append(list, value)
		}
	}
	return list
}

func (i *includedResources) append(dst []byte, l *responseBuilder) ([]byte, error) {
	dst, err := appendList(append(dst, `{"main_images":[`...), l, i.mainImages)
	if err == nil {
		dst, err = appendList(append(dst, `],"files":[`...), l, i.files)
	}
	if err == nil {
		dst, err = appendList(append(dst, `],"component_products":[`...), l, i.components)
	}
	return append(dst, "]}"...), err
}

// appendList appends resources that encode themselves.
func appendList[T interface{ AppendJSON([]byte) []byte }](dst []byte, l *responseBuilder, list []T) ([]byte, error) {
	return appendRows(dst, l, list, func(dst []byte, resource T) []byte { return resource.AppendJSON(dst) })
}
