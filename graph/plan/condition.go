package plan

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// ConditionVariables returns the Boolean variables in @skip and @include of a validated
// operation, sorted. Runs with equal values of them share a plan.
func ConditionVariables(operation *ast.OperationDefinition) (names []string) {
	add := func(directives ast.DirectiveList) {
		for _, directive := range directives {
			if value := conditionOf(directive); value != nil && value.Kind == ast.Variable && !slices.Contains(names, value.Raw) {
				names = append(names, value.Raw)
			}
		}
	}
	var seen map[*ast.FragmentDefinition]bool // nil until there is a fragment, for most operations have none
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch selection := selection.(type) {
			case *ast.Field:
				add(selection.Directives)
				walk(selection.SelectionSet)
			case *ast.InlineFragment:
				add(selection.Directives)
				walk(selection.SelectionSet)
			case *ast.FragmentSpread:
				add(selection.Directives)
				if !seen[selection.Definition] {
					if seen == nil {
						seen = map[*ast.FragmentDefinition]bool{}
					}
					seen[selection.Definition] = true
					walk(selection.Definition.SelectionSet)
				}
			}
		}
	}
	walk(operation.SelectionSet)
	slices.Sort(names)
	return names
}

// conditionOf returns the value of @skip or @include, or nil for another directive.
func conditionOf(directive *ast.Directive) *ast.Value {
	if directive.Name != "skip" && directive.Name != "include" {
		return nil
	}
	return directive.Arguments.ForName("if").Value
}

// included reports whether directives leave a selection in the plan.
func (p *Plan) included(directives ast.DirectiveList) bool {
	for _, directive := range directives {
		value := conditionOf(directive)
		if value == nil {
			continue
		}
		holds := value.Raw == "true"
		if value.Kind == ast.Variable {
			holds = p.conditions[value.Raw]
		}
		if holds == (directive.Name == "skip") {
			return false
		}
	}
	return true
}
