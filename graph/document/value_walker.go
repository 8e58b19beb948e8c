package document

import (
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
)

// valueWalker visits the values of a document: arguments of fields and directives, defaults of variables, and all within them.
type valueWalker struct {
	// visit gets the path of a value, such as filter, sku, eq, its position, and the value; nil at the name of a member. The
	// path is valid during the call.
	visit func(path []string, position *ast.Position, value *ast.Value)

	entered map[*ast.FragmentDefinition]bool // fragments that were visited; nil to leave out spread fragments
}

func (w *valueWalker) document(document *ast.QueryDocument) {
	for _, operation := range document.Operations {
		w.operation(operation)
	}
	for _, fragment := range document.Fragments {
		w.directives(fragment.Directives)
		w.selections(fragment.SelectionSet)
	}
}

func (w *valueWalker) operation(operation *ast.OperationDefinition) {
	w.directives(operation.Directives)
	w.selections(operation.SelectionSet)
	for _, variable := range operation.VariableDefinitions {
		w.value([]string{variable.Variable}, variable.DefaultValue)
	}
}

func (w *valueWalker) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			w.arguments(selection.Arguments)
			w.directives(selection.Directives)
			w.selections(selection.SelectionSet)
		case *ast.InlineFragment:
			w.directives(selection.Directives)
			w.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			w.directives(selection.Directives)
			if fragment := selection.Definition; w.entered != nil && !w.entered[fragment] {
				w.entered[fragment] = true
				w.directives(fragment.Directives)
				w.selections(fragment.SelectionSet)
			}
		}
	}
}

func (w *valueWalker) directives(list ast.DirectiveList) {
	for _, directive := range list {
		w.arguments(directive.Arguments)
	}
}

func (w *valueWalker) arguments(list ast.ArgumentList) {
	for _, argument := range list {
		w.value([]string{argument.Name}, argument.Value)
	}
}

func (w *valueWalker) value(path []string, value *ast.Value) {
	if value == nil {
		return
	}
	w.visit(path, value.Position, value)
	for i, child := range value.Children {
		name := child.Name
		if value.Kind == ast.ListValue {
			name = strconv.Itoa(i)
		}
		below := append(path, name) // may share memory: paths are built and used one at a time
		if value.Kind == ast.ObjectValue {
			w.visit(below, child.Position, nil)
		}
		w.value(below, child.Value)
	}
}
