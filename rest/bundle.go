package rest

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/release"
)

// configurationBody is a choice of options for a bundle: quantities by component key and
// option id.
type configurationBody struct {
	SelectedOptions map[string]map[string]int `json:"selected_options"`
}

// choices returns the choices sorted by component and option, so that equal bodies give
// equal input.
func (b *configurationBody) choices() []*release.BundleChoice {
	choices := make([]*release.BundleChoice, 0, len(b.SelectedOptions))
	for _, component := range slices.Sorted(maps.Keys(b.SelectedOptions)) {
		options := b.SelectedOptions[component]
		choice := &release.BundleChoice{Component: component, Options: make([]release.BundleOption, 0, len(options))}
		for _, id := range slices.Sorted(maps.Keys(options)) {
			choice.Options = append(choice.Options, release.BundleOption{ID: id, Quantity: options[id]})
		}
		choices = append(choices, choice)
	}
	return choices
}

// nameOptions replaces the positions of choices in the paths of errors by the members of the body.
func nameOptions(err error, choices []*release.BundleChoice) error {
	var list store.Errors
	if !errors.As(err, &list) {
		return err
	}
	named := make(store.Errors, len(list))
	for i, e := range list {
		named[i] = e
		if len(e.Path) == 0 || e.Path[0] != "choices" {
			continue
		}
		path := []string{"selected_options"}
		if len(e.Path) > 1 {
			choice, _ := strconv.Atoi(e.Path[1])
			path = append(path, choices[choice].Component)
			if len(e.Path) > 3 {
				option, _ := strconv.Atoi(e.Path[3])
				path = append(path, choices[choice].Options[option].ID)
			}
		}
		moved := *e
		moved.Path, named[i] = path, &moved
	}
	return named
}

// configureProduct returns a bundle with chosen options. It writes nothing.
func (a *API) configureProduct(w http.ResponseWriter, r *http.Request) error {
	p, err := parseListParams(r)
	if err != nil {
		return err
	}
	if err := checkInclude(p.include); err != nil {
		return err
	}
	var b configurationBody
	if err := readData(w, r, &b); err != nil {
		return err
	}
	if b.SelectedOptions == nil {
		return &store.Error{Code: store.Unprocessable, Path: []string{"selected_options"}, Detail: "is required: quantities by component and option id"}
	}
	choices := b.choices()
	addGraphQLHint(w, r, "id", r.PathValue("id"), "choices", choices, "components", p.includeComponents())
	product, err := a.resolver.Query().ProductConfigured(r.Context(), r.PathValue("id"), choices)
	if err == nil && product == nil {
		err = productNotFound(r)
	}
	if err != nil {
		return nameOptions(err, choices)
	}
	return a.writeProduct(w, r, p, product)
}
