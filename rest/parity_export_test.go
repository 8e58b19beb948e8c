package rest

import (
	"regexp"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
)

// Routes returns the coordinates of all routes.
var Routes = func() (coordinates []string) {
	for _, r := range routes() {
		coordinates = append(coordinates, r.coordinate())
	}
	return coordinates
}()

// OperationOf returns the name of a route's operation.
func OperationOf(coordinate string) string {
	for _, r := range routes() {
		if r.coordinate() == coordinate {
			return r.operation
		}
	}
	return ""
}

// Operations returns the documents of operations.graphql by name, with their fragments.
func Operations() map[string]string { return operations() }

// OperationsText is operations.graphql, and OpenAPIText openapi.yaml.
var (
	OperationsText = operationsText
	OpenAPIText    = openAPI
)

var fragments = sync.OnceValue(func() ast.FragmentDefinitionList {
	document, err := parser.ParseQuery(&ast.Source{Input: operationsText})
	if err != nil {
		panic(err)
	}
	return document.Fragments
})

var spreads = regexp.MustCompile(`\.\.\.\s*(\w+)`)

// WithFragments adds the fragments of operations.graphql that a document uses.
func WithFragments(document string) string {
	used := map[string]bool{}
	for left := []string{document}; len(left) > 0; left = left[1:] {
		for _, spread := range spreads.FindAllStringSubmatch(left[0], -1) {
			fragment := fragments().ForName(spread[1])
			if fragment == nil || used[fragment.Name] {
				continue
			}
			used[fragment.Name] = true
			var text strings.Builder
			formatter.NewFormatter(&text).FormatQueryDocument(&ast.QueryDocument{Fragments: ast.FragmentDefinitionList{fragment}})
			document += "\n" + text.String()
			left = append(left, text.String())
		}
	}
	return document
}
