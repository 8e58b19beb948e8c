package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// clientCache is what the caches of front ends want to know of the schema.
type clientCache struct {
	// PossibleTypes has the types of each interface and union.
	PossibleTypes map[string][]string `json:"possibleTypes"`
	// Keyless are the types without an id: part of what they are read from.
	Keyless []string `json:"keyless"`
	// Values are the keyless types that are no envelope.
	Values []string `json:"values"`
	// Lists has the lists that are read by pages, of each type, and of each
	// the arguments that tell one list from another: all but the cursors.
	Lists map[string]map[string][]string `json:"lists"`
}

// writeClientCache writes to a file what the caches of front ends want to know.
func writeClientCache(file string, schema *ast.Schema) error {
	text, err := json.MarshalIndent(clientCacheOf(schema), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o666)
}

func clientCacheOf(schema *ast.Schema) *clientCache {
	c := &clientCache{PossibleTypes: map[string][]string{}, Lists: map[string]map[string][]string{}}
	for name, definition := range schema.Types {
		switch {
		case strings.HasPrefix(name, "__"):
		case definition.IsAbstractType():
			c.PossibleTypes[name] = names(schema.GetPossibleTypes(definition))
		case definition.Kind == ast.Object:
			c.addObject(schema, definition)
		}
	}
	slices.Sort(c.Keyless)
	slices.Sort(c.Values)
	return c
}

func (c *clientCache) addObject(schema *ast.Schema, object *ast.Definition) {
	root := object == schema.Query || object == schema.Mutation || object == schema.Subscription
	if !root && object.Fields.ForName("id") == nil {
		c.Keyless = append(c.Keyless, object.Name)
		if !isEnvelope(object.Name) {
			c.Values = append(c.Values, object.Name)
		}
	}
	for _, field := range object.Fields {
		if !strings.HasSuffix(field.Type.Name(), "Connection") {
			continue
		}
		if c.Lists[object.Name] == nil {
			c.Lists[object.Name] = map[string][]string{}
		}
		c.Lists[object.Name][field.Name] = listKey(field.Arguments)
	}
}

// isEnvelope reports whether objects of a type are made anew by each answer: parts of a list, and payloads of mutations. Caches have
// rules of their own for lists.
func isEnvelope(name string) bool {
	return name == "PageInfo" || slices.ContainsFunc([]string{"Connection", "Edge", "Payload"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// listKey is the names of the arguments that make another list of it. The page
// length is one: pages of two lengths are not put together.
func listKey(arguments ast.ArgumentDefinitionList) []string {
	key := []string{}
	for _, argument := range arguments {
		if argument.Name != "after" && argument.Name != "before" {
			key = append(key, argument.Name)
		}
	}
	return key
}

func names(definitions []*ast.Definition) []string {
	list := make([]string, len(definitions))
	for i, definition := range definitions {
		list[i] = definition.Name
	}
	slices.Sort(list)
	return list
}
