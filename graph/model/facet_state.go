package model

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"portico/store"
	"portico/store/release"
)

// maxFacetState is the largest number of bytes of a FacetState in a request.
const maxFacetState = 2048

// The keys of groups: those of options and attributes are followed by a name.
const (
	tagsKey         = "tags"
	productTypesKey = "productTypes"
	optionKey       = "option:"
	attributeKey    = "attribute:"
)

// FacetState is what a shopper chose from the facets of a list: values of groups. Any of a group's values
// must match, in each group. Equal choices have equal texts.
type FacetState struct {
	choices []facetChoice // by key
}

// facetChoice is the values of a group, sorted, each once, and at least one.
type facetChoice struct {
	key    string // of the FacetGroup
	values []string
}

// ParseFacetState returns the state that String wrote. Nil is nothing.
func ParseFacetState(text *string) (state FacetState, err error) {
	if text == nil || *text == "" {
		return state, nil
	}
	if len(*text) > maxFacetState {
		return state, store.Invalidf([]string{"facets"}, "must have at most %d bytes, got %d. Choose fewer values.", maxFacetState, len(*text))
	}
	plain, err := base64.RawURLEncoding.Strict().DecodeString(*text)
	var groups [][]string
	if err == nil {
		err = json.Unmarshal(plain, &groups)
	}
	if err != nil {
		return state, errNoFacetState()
	}
	for _, group := range groups {
		if len(group) < 2 || !isFacetKey(group[0]) {
			return state, errNoFacetState()
		}
		state = state.with(group[0], append(group[1:], state.values(group[0])...))
	}
	return state, nil
}

func errNoFacetState() error {
	return store.Invalidf([]string{"facets"}, "must be a value of `toggled`, sent back as it was; null or an empty text chooses nothing")
}

// isFacetKey reports whether a text may be the key of a group.
func isFacetKey(key string) bool {
	return key == tagsKey || key == productTypesKey || strings.HasPrefix(key, optionKey) || strings.HasPrefix(key, attributeKey)
}

// String returns the state as text, empty for nothing.
func (s FacetState) String() string {
	if len(s.choices) == 0 {
		return ""
	}
	groups := make([][]string, len(s.choices))
	for i, choice := range s.choices {
		groups[i] = append([]string{choice.key}, choice.values...)
	}
	return base64.RawURLEncoding.EncodeToString(store.Encode(groups))
}

// values returns the chosen values of a group.
func (s FacetState) values(key string) []string {
	if i, found := s.find(key); found {
		return s.choices[i].values
	}
	return nil
}

// find returns the index of a group in choices, or where it would be.
func (s FacetState) find(key string) (int, bool) {
	return slices.BinarySearchFunc(s.choices, key, func(c facetChoice, key string) int { return strings.Compare(c.key, key) })
}

// with returns the state with other values of a group.
func (s FacetState) with(key string, values []string) FacetState {
	i, found := s.find(key)
	choices := slices.Clone(s.choices)
	if found {
		choices = slices.Delete(choices, i, i+1)
	}
	if len(values) > 0 {
		values = slices.Clone(values)
		slices.Sort(values)
		choices = slices.Insert(choices, i, facetChoice{key, slices.Compact(values)})
	}
	return FacetState{choices}
}

// Toggle returns the state with a value added, or removed.
func (s FacetState) Toggle(key, value string) FacetState {
	values := slices.Clone(s.values(key))
	if i := slices.Index(values, value); i >= 0 {
		return s.with(key, slices.Delete(values, i, i+1))
	}
	return s.with(key, append(values, value))
}

// addTo adds the choices to a filter.
func (s FacetState) addTo(filter *release.ProductFilter) error {
	for _, choice := range s.choices {
		if key, ok := strings.CutPrefix(choice.key, attributeKey); ok {
			condition, err := release.NewAttributeCondition(key, choice.values, nil, nil)
			if err != nil {
				return errNoFacetState()
			}
			filter.Attributes = append(filter.Attributes, condition)
			continue
		}
		term, err := choice.term()
		if err != nil {
			return errNoFacetState()
		}
		filter.Terms = append(filter.Terms, term)
	}
	return nil
}

// term returns the condition of a choice of tags, product types or options.
func (c facetChoice) term() (store.Term, error) {
	switch c.key {
	case tagsKey:
		return release.NewTerm("tags", "in", c.values)
	case productTypesKey:
		return release.NewTerm("product_types", "in", c.values)
	}
	return release.NewOptionTerm(strings.TrimPrefix(c.key, optionKey), c.values)
}
