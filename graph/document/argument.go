package document

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// The library's faults of values say what is wrong, and not which member of
// which argument it is.

// nameArguments names the arguments that validation found fault with, as
// their locations have them, in words and in extensions.argument.
func nameArguments(document *ast.QueryDocument, faults gqlerror.List) {
	if !slices.ContainsFunc(faults, hasValueLocation) {
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
	for _, fault := range faults {
		if path := at[locationOf(fault)]; path != nil && hasValueLocation(fault) {
			NameArgument(fault, store.Invalid, path)
		}
	}
}

func NameArgument(fault *gqlerror.Error, code store.Code, path []string) {
	fault.Message = strings.Join(path, ".") + ": " + fault.Message
	fault.Extensions = map[string]any{"code": code, "argument": path}
}

// hasValueLocation tells faults whose location is a value's.
func hasValueLocation(fault *gqlerror.Error) bool {
	return fault.Rule == "ValuesOfCorrectType" || fault.Rule == "UniqueInputFieldNames"
}

func locationOf(fault *gqlerror.Error) gqlerror.Location {
	if len(fault.Locations) == 0 {
		return gqlerror.Location{}
	}
	return fault.Locations[0]
}

// valuePaths are the paths of values, by where they are written.
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
