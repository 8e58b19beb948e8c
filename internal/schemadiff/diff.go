package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// breaking lists the changes that can break an operation or a generated client: removed coordinates, changed types, inputs that are
// required now. Types are sorted by name.
func breaking(before, now *ast.Schema) (changes changeList) {
	for _, name := range slices.Sorted(maps.Keys(before.Types)) {
		was, is := before.Types[name], now.Types[name]
		switch {
		case strings.HasPrefix(name, "__"):
		case is == nil:
			changes.add("%s was removed", name)
		case is.Kind != was.Kind:
			changes.add("%s changed from %s to %s", name, was.Kind, is.Kind)
		default:
			changes.definition(was, is)
		}
	}
	return changes
}

// changeList is a list of breaking changes, one sentence each.
type changeList []string

func (c *changeList) add(format string, values ...any) {
	*c = append(*c, fmt.Sprintf(format, values...))
}

// definition compares a type that both schemas have.
func (c *changeList) definition(was, is *ast.Definition) {
	for _, name := range was.Interfaces {
		if !slices.Contains(is.Interfaces, name) {
			c.add("%s no longer implements %s", was.Name, name)
		}
	}
	for _, name := range was.Types {
		if !slices.Contains(is.Types, name) {
			c.add("%s is no longer a member of %s", name, was.Name)
		}
	}
	for _, value := range was.EnumValues {
		if is.EnumValues.ForName(value.Name) == nil {
			c.add("%s.%s was removed", was.Name, value.Name)
		}
	}
	input := was.Kind == ast.InputObject
	for _, field := range was.Fields {
		at, found := was.Name+"."+field.Name, is.Fields.ForName(field.Name)
		switch {
		case found == nil:
			c.add("%s was removed", at)
		case input:
			c.input(at, field.Type, found.Type, field.DefaultValue != nil && found.DefaultValue == nil)
		default:
			if !isAssignable(field.Type, found.Type) {
				c.add("%s changed from %s to %s", at, field.Type, found.Type)
			}
			c.arguments(at, field.Arguments, found.Arguments)
		}
	}
	for _, field := range is.Fields {
		if input && was.Fields.ForName(field.Name) == nil && field.Type.NonNull && field.DefaultValue == nil {
			c.add("%s.%s is new and required", was.Name, field.Name)
		}
	}
}

// arguments compares the arguments of a field.
func (c *changeList) arguments(at string, was, is ast.ArgumentDefinitionList) {
	for _, argument := range was {
		of := fmt.Sprintf("%s(%s:)", at, argument.Name)
		if found := is.ForName(argument.Name); found == nil {
			c.add("%s was removed", of)
		} else {
			c.input(of, argument.Type, found.Type, argument.DefaultValue != nil && found.DefaultValue == nil)
		}
	}
	for _, argument := range is {
		if was.ForName(argument.Name) == nil && argument.Type.NonNull && argument.DefaultValue == nil {
			c.add("%s(%s:) is new and required", at, argument.Name)
		}
	}
}

// input compares the types of a value that clients send. lostDefault says that it has no default any more.
func (c *changeList) input(at string, was, is *ast.Type, lostDefault bool) {
	switch {
	case !isAssignable(is, was):
		c.add("%s changed from %s to %s", at, was, is)
	case lostDefault && is.NonNull:
		c.add("%s has no default any more, so it is required", at)
	}
}

// isAssignable reports whether a value of one type is valid where another is expected.
func isAssignable(expected, given *ast.Type) bool {
	if expected.NonNull && !given.NonNull {
		return false
	}
	if expected.Elem == nil || given.Elem == nil {
		return expected.Elem == nil && given.Elem == nil && expected.NamedType == given.NamedType
	}
	return isAssignable(expected.Elem, given.Elem)
}
