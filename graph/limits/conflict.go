package limits

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// conflictChecker finds fields with the same response name that cannot be merged, in an otherwise valid
// document. The library compares all pairs: 990 fields of one name give 489,555 errors. Equality is
// transitive, so conflictChecker compares each field only with the first of its name: linear time.
type conflictChecker struct {
	schema    *ast.Schema
	report    func(*gqlerror.Error) // may panic to end the check
	conflicts int                   // number of those reported
}

// CheckConflicts reports fields of an operation that cannot be merged. report may panic to end the check. Types are compared only
// if all fields of a name are the same field.
func CheckConflicts(schema *ast.Schema, operation *ast.OperationDefinition, report func(*gqlerror.Error)) {
	c := &conflictChecker{schema: schema, report: report}
	fields := collectFields(nil, operation.SelectionSet)
	c.checkSameFields(fields)
	if c.conflicts == 0 {
		c.checkShapes(fields)
	}
}

// collectFields adds the fields of a selection set, those of fragments too.
func collectFields(fields []*ast.Field, set ast.SelectionSet) []*ast.Field {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			fields = append(fields, selection)
		case *ast.InlineFragment:
			fields = collectFields(fields, selection.SelectionSet)
		case *ast.FragmentSpread:
			fields = collectFields(fields, selection.Definition.SelectionSet)
		}
	}
	return fields
}

// subfields returns the fields below several fields.
func subfields(fields []*ast.Field) (all []*ast.Field) {
	for _, field := range fields {
		all = collectFields(all, field.SelectionSet)
	}
	return all
}

// groupBy groups fields by a key, in the order in which the keys first occur.
func groupBy[K comparable](fields []*ast.Field, key func(*ast.Field) K) [][]*ast.Field {
	var list [][]*ast.Field
	place := map[K]int{}
	for _, field := range fields {
		k := key(field)
		i, known := place[k]
		if !known {
			i = len(list)
			place[k] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], field)
	}
	return list
}

func responseName(field *ast.Field) string { return field.Alias }

// checkSameFields checks that fields of one response name are the same field with the same arguments, if
// they can be on one object. Fields of different object types cannot; those of an interface always can.
func (c *conflictChecker) checkSameFields(fields []*ast.Field) {
	for _, named := range groupBy(fields, responseName) {
		var ofAny, ofOne []*ast.Field // selected on an interface or union, and on an object type
		for _, field := range named {
			if field.ObjectDefinition.Kind == ast.Object {
				ofOne = append(ofOne, field)
			} else {
				ofAny = append(ofAny, field)
			}
		}
		if len(ofOne) == 0 {
			c.checkGroup(ofAny)
		}
		for _, group := range groupBy(ofOne, func(f *ast.Field) *ast.Definition { return f.ObjectDefinition }) {
			c.checkGroup(append(group, ofAny...))
		}
	}
}

// checkGroup checks that fields are the same, and their subfields too.
func (c *conflictChecker) checkGroup(group []*ast.Field) {
	if len(group) < 2 && group[0].SelectionSet == nil {
		return
	}
	first, before := group[0], c.conflicts
	for _, field := range group[1:] {
		if field.Name != first.Name {
			c.reportConflict(field, fmt.Sprintf("%q and %q are different fields", first.Name, field.Name))
		} else if !sameArguments(first.Arguments, field.Arguments) {
			c.reportConflict(field, "they have differing arguments")
		}
	}
	if c.conflicts == before {
		c.checkSameFields(subfields(group))
	}
}

// checkShapes checks that all fields of one response name have values of the same shape, even on
// different objects: a client decodes them with one type.
func (c *conflictChecker) checkShapes(fields []*ast.Field) {
	for _, named := range groupBy(fields, responseName) {
		first, before := named[0], c.conflicts
		for _, field := range named[1:] {
			if !c.sameShape(first.Definition.Type, field.Definition.Type) {
				c.reportConflict(field, fmt.Sprintf("they return conflicting types %q and %q", first.Definition.Type, field.Definition.Type))
			}
		}
		if c.conflicts == before {
			c.checkShapes(subfields(named))
		}
	}
}

// reportConflict reports that a field conflicts with the first of its name.
func (c *conflictChecker) reportConflict(field *ast.Field, because string) {
	c.conflicts++
	c.report(&gqlerror.Error{
		Message:   fmt.Sprintf("Fields %q conflict because %s. Use different aliases on the fields to fetch both if this was intentional.", field.Alias, because),
		Locations: []gqlerror.Location{{Line: field.Position.Line, Column: field.Position.Column}},
	})
}

// sameShape reports whether two types have the same lists and the same nulls around one scalar or enum, or around objects.
func (c *conflictChecker) sameShape(a, b *ast.Type) bool {
	for a.Elem != nil && b.Elem != nil && a.NonNull == b.NonNull {
		a, b = a.Elem, b.Elem
	}
	if a.NonNull != b.NonNull || (a.Elem == nil) != (b.Elem == nil) {
		return false
	}
	return a.NamedType == b.NamedType || c.schema.Types[a.NamedType].IsCompositeType() && c.schema.Types[b.NamedType].IsCompositeType()
}

// sameArguments reports whether two lists have the same arguments in any order.
func sameArguments(a, b ast.ArgumentList) bool {
	if len(a) != len(b) {
		return false
	}
	for _, argument := range a {
		other := b.ForName(argument.Name)
		if other == nil || !sameValue(other.Value, argument.Value) {
			return false
		}
	}
	return true
}

// sameValue reports whether two literals are equal. The members of an object may be in any order.
func sameValue(a, b *ast.Value) bool {
	if a.Kind != b.Kind || a.Raw != b.Raw || len(a.Children) != len(b.Children) {
		return false
	}
	for i, child := range a.Children {
		other := b.Children[i].Value
		if a.Kind == ast.ObjectValue {
			other = b.Children.ForName(child.Name)
		}
		if other == nil || !sameValue(child.Value, other) {
			return false
		}
	}
	return true
}
