package plan

import (
	"slices"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
)

// Document are the plans of one document, each compiled when it is first asked
// for. They leave memory with it. It is safe for concurrent use, and its zero
// value has none.
type Document struct {
	mu         sync.Mutex
	operations map[*ast.OperationDefinition]*operation
}

// operation are the plans of one operation.
type operation struct {
	conditions []string // variables that decide what it selects
	plans      map[string]*Plan
}

// maxConditions bounds how many Booleans may decide what an operation
// selects; 2 to that power are the plans of an operation at most.
const maxConditions = 4

// Plan is the plan of a query of a validated document with these
// variables, which are coerced. It is nil for what is left to gqlgen's
// executor: the schema itself, and what more
// variables decide on than plans are made for.
func (n *Runner) Plan(plans *Document, document *ast.QueryDocument, asked *ast.OperationDefinition, variables map[string]any) *Plan {
	plans.mu.Lock()
	defer plans.mu.Unlock()
	known := plans.operations[asked]
	if known == nil {
		known = &operation{conditionsOf(document, asked), map[string]*Plan{}}
		if plans.operations == nil {
			plans.operations = map[*ast.OperationDefinition]*operation{}
		}
		plans.operations[asked] = known
	}
	if len(known.conditions) > maxConditions {
		return nil
	}
	choice := make([]byte, 0, maxConditions)
	for _, name := range known.conditions {
		if variables[name] == true {
			choice = append(choice, '1')
		} else {
			choice = append(choice, '0')
		}
	}
	plan, compiled := known.plans[string(choice)]
	if !compiled {
		conditions := make(map[string]any, len(known.conditions))
		for _, name := range known.conditions {
			conditions[name] = variables[name]
		}
		plan = n.compile(document, asked, conditions)
		known.plans[string(choice)] = plan
	}
	return plan
}

// conditionsOf are the variables in the @skip and @include of an operation, in
// order.
func conditionsOf(document *ast.QueryDocument, operation *ast.OperationDefinition) (names []string) {
	note := func(directives ast.DirectiveList) {
		for _, directive := range directives {
			if directive.Name != "skip" && directive.Name != "include" {
				continue
			}
			value := directive.Arguments.ForName("if").Value
			if value.Kind == ast.Variable && !slices.Contains(names, value.Raw) {
				names = append(names, value.Raw)
			}
		}
	}
	spread := map[string]bool{}
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch selection := selection.(type) {
			case *ast.Field:
				note(selection.Directives)
				walk(selection.SelectionSet)
			case *ast.InlineFragment:
				note(selection.Directives)
				walk(selection.SelectionSet)
			case *ast.FragmentSpread:
				note(selection.Directives)
				if !spread[selection.Name] {
					spread[selection.Name] = true
					walk(selection.Definition.SelectionSet)
				}
			}
		}
	}
	walk(operation.SelectionSet)
	slices.Sort(names)
	return names
}
