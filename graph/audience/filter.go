package audience

import (
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/internal/auth"
)

// filter returns the part of a schema that a token with scopes may use. Types of an interface are in it if a field of their
// own leads to them: `node` finds only what its type's own fields show. Types that no root field leads to at all, such as
// ErrorCode, describe responses as a whole and are always in it.
func filter(full *ast.Schema, scopes []string) *ast.Schema {
	usable := func(coordinate string) bool { return auth.Usable(coordinate, scopes) }
	reached := reach(full, usable)
	everything := reach(full, func(string) bool { return true })
	for name, definition := range full.Types {
		if everything[name] == nil {
			reached[name] = definition
		}
	}
	part := *full
	part.Types = reached
	part.Query, part.Mutation, part.Subscription = reached["Query"], reached["Mutation"], reached["Subscription"]
	part.PossibleTypes, part.Implements = present(full.PossibleTypes, reached), present(full.Implements, reached)
	return &part
}

// present returns what an index says of types, without those that are absent.
func present(index map[string][]*ast.Definition, types map[string]*ast.Definition) map[string][]*ast.Definition {
	index = maps.Clone(index)
	for name, list := range index {
		if types[name] == nil {
			delete(index, name)
			continue
		}
		index[name] = nil
		for _, definition := range list {
			if of := types[definition.Name]; of != nil {
				index[name] = append(index[name], of)
			}
		}
	}
	return index
}

// reach returns the types that the usable root fields lead to, with their usable members.
func reach(full *ast.Schema, usable func(coordinate string) bool) map[string]*ast.Definition {
	reached := map[string]*ast.Definition{}
	var visit func(definition *ast.Definition)
	visit = func(definition *ast.Definition) {
		if definition == nil || reached[definition.Name] != nil {
			return
		}
		part := *definition
		part.Fields = usableFields(definition, usable)
		if len(part.Fields) == 0 && len(definition.Fields) > 0 {
			return
		}
		reached[definition.Name] = &part
		for _, field := range part.Fields {
			visit(full.Types[field.Type.Name()])
			for _, argument := range field.Arguments {
				visit(full.Types[argument.Type.Name()])
			}
		}
		for _, name := range slices.Concat(definition.Interfaces, definition.Types) {
			visit(full.Types[name])
		}
	}
	for _, root := range []*ast.Definition{full.Query, full.Mutation, full.Subscription} {
		visit(root)
	}
	return reached
}

// usableFields returns the fields of a type, or the members of an input, without the unusable ones and their unusable
// arguments. Fields of introspection, __schema and __type, always are usable.
func usableFields(of *ast.Definition, usable func(coordinate string) bool) (fields ast.FieldList) {
	for _, field := range of.Fields {
		coordinate := of.Name + "." + field.Name
		if !strings.HasPrefix(field.Name, "__") && !usable(coordinate) {
			continue
		}
		unusable := func(argument *ast.ArgumentDefinition) bool { return !usable(coordinate + "(" + argument.Name + ":)") }
		if slices.ContainsFunc(field.Arguments, unusable) {
			part := *field
			part.Arguments = slices.DeleteFunc(slices.Clone(field.Arguments), unusable)
			field = &part
		}
		fields = append(fields, field)
	}
	return fields
}
