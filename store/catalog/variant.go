package catalog

import (
	"cmp"
	"slices"
	"strings"

	"portico/store"
)

// Variation is a property in which the children of a product differ.
type Variation struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	SortOrder int               `json:"sort_order"`
	Option    *VariationOption  `json:"option"` // the child's option; nil on a parent
	Options   []VariationOption `json:"options"`
}

// VariationOption is one value of a variation.
type VariationOption struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	SortOrder   int    `json:"sort_order"`
}

// Text returns the description; nil for none.
func (o VariationOption) Text() *string { return store.NonEmpty(o.Description) }

// Variants describes how a parent and its live children relate.
type Variants struct {
	Variations []Variation       // of a parent, sorted
	Chosen     []Variation       // of a child: the parent's variations with the child's options
	Children   []variantChild    // of a parent, by their options, then id
	Modifiers  []*ModifierSource // of a child, in its order
}

// variantChild is a live child with one option for each variation, in order.
type variantChild struct {
	id      string
	options []string
}

// NewVariations sorts variations and their options by sort order, then id.
func NewVariations(sources []variationSource) []Variation {
	list := make([]Variation, len(sources))
	for i, v := range sources {
		options := slices.Clone(v.Options)
		slices.SortFunc(options, func(a, b VariationOption) int {
			return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.ID, b.ID))
		})
		list[i] = Variation{ID: v.ID, Name: v.Name, SortOrder: v.SortOrder, Options: options}
	}
	slices.SortFunc(list, func(a, b Variation) int {
		return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// ChooseOptions sets the child's option of each variation; it drops variations without one.
func ChooseOptions(variations []Variation, optionIDs []string) (chosen []Variation) {
	for _, v := range variations {
		at := slices.IndexFunc(v.Options, func(o VariationOption) bool { return slices.Contains(optionIDs, o.ID) })
		if at >= 0 {
			v.Option = &v.Options[at]
			chosen = append(chosen, v)
		}
	}
	return chosen
}

// OptionPositions returns the positions of a child's options, one for each variation; missing
// ones come last.
func OptionPositions(variations []Variation, optionIDs []string) []int {
	positions := make([]int, len(variations))
	for i, v := range variations {
		positions[i] = len(v.Options)
		if at := slices.IndexFunc(v.Options, func(o VariationOption) bool { return slices.Contains(optionIDs, o.ID) }); at >= 0 {
			positions[i] = at
		}
	}
	return positions
}

// NewVariantChild returns the options of a child; ok is false if a variation has none, so
// that no selection leads to the child.
func NewVariantChild(id string, variations []Variation, optionIDs []string) (child variantChild, ok bool) {
	chosen := ChooseOptions(variations, optionIDs)
	child.id = id
	for _, v := range chosen {
		child.options = append(child.options, v.Option.ID)
	}
	return child, len(chosen) == len(variations) && len(chosen) > 0
}

// matrix maps option ids to child ids, nested in the order of variations. The first of two
// children with the same options wins.
func (v *Variants) matrix() map[string]any {
	root := map[string]any{}
	for _, child := range v.Children {
		level := root
		last := len(child.options) - 1
		for _, option := range child.options[:last] {
			next, ok := level[option].(map[string]any)
			if !ok {
				next = map[string]any{}
				level[option] = next
			}
			level = next
		}
		if level[child.options[last]] == nil {
			level[child.options[last]] = child.id
		}
	}
	return root
}

// optionIDs returns the options of each child.
func (v *Variants) optionIDs() [][]string {
	list := make([][]string, len(v.Children))
	for i, child := range v.Children {
		list[i] = child.options
	}
	return list
}

// appendJSON appends the members of a product's meta that are about its variants.
func (v *Variants) appendJSON(dst []byte) []byte {
	dst = appendArrayOf(store.AppendName(dst, "variations"), v.Variations)
	dst = appendArrayOf(store.AppendName(dst, "child_variations"), v.Chosen)
	dst = appendObjectOf(store.AppendName(dst, "variation_matrix"), v.matrix())
	dst = appendArrayOf(store.AppendName(dst, "child_option_ids"), v.optionIDs())
	return appendModifiers(store.AppendName(dst, "price_modifiers"), v.Modifiers)
}

// Variations parses a member of variations as appendJSON writes them.
func (s *DocumentScanner) Variations(prefix string) []Variation {
	s.Skip(prefix)
	s.Skip(`[`)
	list := []Variation{}
	s.List(func() {
		v := Variation{ID: s.Member(`{"id":`), Name: s.Member(`,"name":`), SortOrder: s.sortOrder()}
		s.Skip(`,"option":`)
		if !s.TrySkip(`null`) {
			option := s.variationOption()
			v.Option = &option
		}
		s.Skip(`,"options":`)
		if !s.TrySkip(`null`) {
			s.Skip(`[`)
			about := strings.Count(s.Input[:strings.IndexByte(s.Input, ']')+1], `{"id":`) // exact unless a text has a bracket
			v.Options = make([]VariationOption, 0, about)
			s.List(func() { v.Options = append(v.Options, s.variationOption()) })
		}
		s.Skip(`}`)
		list = append(list, v)
	})
	return list
}

func (s *DocumentScanner) variationOption() VariationOption {
	option := VariationOption{ID: s.Member(`{"id":`), Name: s.Member(`,"name":`), Description: s.Member(`,"description":`), SortOrder: s.sortOrder()}
	s.Skip(`}`)
	return option
}

// sortOrder parses the member sort_order, which may be negative.
func (s *DocumentScanner) sortOrder() int {
	s.Skip(`,"sort_order":`)
	if s.TrySkip(`-`) {
		return -s.number()
	}
	return s.number()
}
