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
	at := valuePaths{}
	for _, operation := range document.Operations {
		at.directives(operation.Directives)
		at.selections(operation.SelectionSet)
		for _, variable := range operation.VariableDefinitions {
			at.value([]string{variable.Variable}, variable.DefaultValue)
		}
	}
	for _, fragment := range document.Fragments {
		at.directives(fragment.Directives)
		at.selections(fragment.SelectionSet)
	}
	for _, err := range errs {
		if path := at[locationOf(err)]; path != nil && hasValueLocation(err) {
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

// valuePaths holds the paths of values by their locations in the document.
type valuePaths map[gqlerror.Location][]string

func (at valuePaths) add(position *ast.Position, path []string) {
	if position != nil {
		at[gqlerror.Location{Line: position.Line, Column: position.Column}] = path
	}
}

func (at valuePaths) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			at.arguments(selection.Arguments)
			at.directives(selection.Directives)
			at.selections(selection.SelectionSet)
		case *ast.InlineFragment:
			at.directives(selection.Directives)
			at.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			at.directives(selection.Directives)
		}
	}
}

func (at valuePaths) directives(list ast.DirectiveList) {
	for _, directive := range list {
		at.arguments(directive.Arguments)
	}
}

func (at valuePaths) arguments(list ast.ArgumentList) {
	for _, argument := range list {
		at.value([]string{argument.Name}, argument.Value)
	}
}

func (at valuePaths) value(path []string, value *ast.Value) {
	if value == nil {
		return
	}
	at.add(value.Position, path)
	for i, child := range value.Children {
		name := child.Name
		if value.Kind == ast.ListValue {
			name = strconv.Itoa(i)
		}
		below := append(slices.Clone(path), name)
		if value.Kind == ast.ObjectValue {
			at.add(child.Position, below)
		}
		at.value(below, child.Value)
	}
}
