package rest

import (
	"slices"
	"strings"

	"portico/graph/model"
	"portico/store/promotion/rule"
)

// promotionFilter parses a filter of promotions. It returns nil for an empty filter.
func promotionFilter(text string) (*model.PromotionFilter, error) {
	if text == "" {
		return nil, nil
	}
	conditions, err := parseFilter(text)
	if err != nil {
		return nil, err
	}
	filter := &model.PromotionFilter{}
	seen := map[string]bool{}
	for _, c := range conditions {
		if c.isRange() {
			if filter.Bounds == nil {
				filter.Bounds = &model.ListBounds{}
			}
			err = c.addBound(filter.Bounds)
		} else if seen[c.attribute] {
			err = invalidFilter("has two conditions on %s; use one in(%s,…)", c.attribute, c.attribute)
		} else {
			seen[c.attribute] = true
			err = c.addToPromotionFilter(filter)
		}
		if err != nil {
			return nil, err
		}
	}
	return filter, nil
}

// addToPromotionFilter adds an eq, in or like condition.
func (c condition) addToPromotionFilter(filter *model.PromotionFilter) error {
	switch {
	case c.operator == "like" && c.attribute == "name" && len(c.values) == 1:
		filter.NameLike = &c.values[0]
		return nil
	case c.operator != "eq" && c.operator != "in":
		return invalidFilter("has the operator %q on %s; use eq or in, like on name, or gt, ge, lt and le on id, created_at and updated_at", c.operator, c.attribute)
	case c.operator == "eq" && len(c.values) != 1:
		return invalidFilter("has eq(%s,…) with %d values; use one", c.attribute, len(c.values))
	}
	var err error
	switch c.attribute {
	case "id":
		filter.IDs = c.values
	case "name":
		filter.Name = &model.TextFilter{In: c.values}
	case "promotion_type":
		filter.PromotionType, err = enumValues(c, rule.PromotionTypes())
	case "state":
		filter.State, err = enumValues(c, rule.PromotionStates())
	case "enabled":
		filter.Enabled, err = parseBool(c)
	case "automatic":
		filter.Automatic, err = parseBool(c)
	default:
		err = invalidFilter("has the unknown attribute %q; use one of id, name, promotion_type, state, enabled, automatic", c.attribute)
	}
	return err
}

// enumValues returns the values of a condition on an enum.
func enumValues[T ~string](c condition, known []T) (list []T, err error) {
	for _, value := range c.values {
		value = strings.TrimSpace(value)
		if !slices.Contains(known, T(value)) {
			return nil, invalidFilter("compares %s with %q, which is not one of its values", c.attribute, value)
		}
		list = append(list, T(value))
	}
	return list, nil
}

// parseBool returns the value of a condition on a Boolean.
func parseBool(c condition) (*bool, error) {
	text := strings.TrimSpace(c.values[0])
	value := text == "true"
	if len(c.values) != 1 || !value && text != "false" {
		return nil, invalidFilter("compares %s with a value other than true and false", c.attribute)
	}
	return &value, nil
}
