package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// breaking lists what an operation or a program of before may stumble over in
// now: what is gone, what has another type, and what must be sent besides.
// Coordinates are in the order of their names.
func breaking(before, now *ast.Schema) (changes changes) {
	for _, name := range slices.Sorted(maps.Keys(before.Types)) {
		was, is := before.Types[name], now.Types[name]
		switch {
		case strings.HasPrefix(name, "__"):
		case is == nil:
			changes.add("%s is gone", name)
		case is.Kind != was.Kind:
			changes.add("%s was %s, and is %s", name, was.Kind, is.Kind)
		default:
			changes.definition(was, is)
		}
	}
	return changes
}

type changes []string

func (c *changes) add(format string, values ...any) { *c = append(*c, fmt.Sprintf(format, values...)) }

// definition compares one type.
func (c *changes) definition(was, is *ast.Definition) {
	for _, name := range was.Interfaces {
		if !slices.Contains(is.Interfaces, name) {
			c.add("%s is no %s any more", was.Name, name)
		}
	}
	for _, name := range was.Types {
		if !slices.Contains(is.Types, name) {
			c.add("%s is no longer one of %s", name, was.Name)
		}
	}
	for _, value := range was.EnumValues {
		if is.EnumValues.ForName(value.Name) == nil {
			c.add("%s.%s is gone", was.Name, value.Name)
		}
	}
	input := was.Kind == ast.InputObject
	for _, field := range was.Fields {
		at, found := was.Name+"."+field.Name, is.Fields.ForName(field.Name)
		switch {
		case found == nil:
			c.add("%s is gone", at)
		case input:
			c.sent(at, field.Type, found.Type)
		default:
			if !answers(field.Type, found.Type) {
				c.add("%s was %s, and is %s", at, field.Type, found.Type)
			}
			c.arguments(at, field.Arguments, found.Arguments)
		}
	}
	for _, field := range is.Fields {
		if input && was.Fields.ForName(field.Name) == nil && field.Type.NonNull && field.DefaultValue == nil {
			c.add("%s.%s is new, and must be sent", was.Name, field.Name)
		}
	}
}

func (c *changes) arguments(at string, was, is ast.ArgumentDefinitionList) {
	for _, argument := range was {
		of := fmt.Sprintf("%s(%s:)", at, argument.Name)
		if found := is.ForName(argument.Name); found == nil {
			c.add("%s is gone", of)
		} else {
			c.sent(of, argument.Type, found.Type)
		}
	}
	for _, argument := range is {
		if was.ForName(argument.Name) == nil && argument.Type.NonNull && argument.DefaultValue == nil {
			c.add("%s(%s:) is new, and must be sent", at, argument.Name)
		}
	}
}

// sent compares what callers send.
func (c *changes) sent(at string, was, is *ast.Type) {
	if !answers(is, was) {
		c.add("%s was %s, and is %s", at, was, is)
	}
}

// answers tells whether a value of one type is good wherever another is
// expected: it may be null in fewer places, and in no more.
func answers(expected, given *ast.Type) bool {
	if expected.NonNull && !given.NonNull {
		return false
	}
	if expected.Elem == nil || given.Elem == nil {
		return expected.Elem == nil && given.Elem == nil && expected.NamedType == given.NamedType
	}
	return answers(expected.Elem, given.Elem)
}
