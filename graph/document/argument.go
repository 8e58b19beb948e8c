package document

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// nameArguments adds the argument and member to the library's errors of values, in the message and in
// extensions.argument. The library reports only their location.
func nameArguments(document *ast.QueryDocument, errs gqlerror.List) {
	if !slices.ContainsFunc(errs, hasValueLocation) {
		return
	}
	at := map[gqlerror.Location][]string{}
	w := valueWalker{visit: func(path []string, position *ast.Position, _ *ast.Value) {
		if position != nil {
			at[gqlerror.Location{Line: position.Line, Column: position.Column}] = slices.Clone(path)
		}
	}}
	w.document(document)
	for _, err := range errs {
		if path := at[locationOf(err)]; path != nil && hasValueLocation(err) {
			if of, _, wrong := strings.Cut(err.Message, `" must be non-null.`); wrong { // @oneOf; the library names the first member of the type
				err.Message = of[:strings.LastIndexByte(of, '.')+1] + path[len(path)-1] + `" must be non-null.`
			}
			NameArgument(err, store.Invalid, path)
		}
	}
}

// NameArgument adds the path of an argument to an error, and sets its code.
func NameArgument(err *gqlerror.Error, code store.Code, path []string) {
	err.Message = strings.Join(path, ".") + ": " + err.Message
	err.Extensions = map[string]any{"code": code, "argument": path}
}

// hasValueLocation reports whether the location of an error is that of a value.
func hasValueLocation(err *gqlerror.Error) bool {
	return err.Rule == "ValuesOfCorrectType" || err.Rule == "UniqueInputFieldNames"
}

func locationOf(err *gqlerror.Error) gqlerror.Location {
	if len(err.Locations) == 0 {
		return gqlerror.Location{}
	}
	return err.Locations[0]
}

// valueWalker visits the values of a document.
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
