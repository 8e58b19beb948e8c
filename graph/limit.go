package graph

import (
	"context"
	"fmt"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"

	"portico/store"
)

// The bounds of a document. They are held before validation, whose own rules
// grow with the square of repeated fields, or worse with nested fragments.
const (
	maxTokens     = 15_000
	maxDepth      = 20
	maxSelections = 5_000     // fields, each fragment counted wherever it is spread
	maxRepeats    = 1_000     // fields of one name, which validation compares pair by pair
	maxFields     = 1_000_000 // fields of the answer, as far as the page sizes tell
)

// limiter refuses documents that would cost too much to validate or to run.
type limiter struct{}

func newLimiter() limiter { return limiter{} }

// ExtensionName implements graphql.HandlerExtension.
func (limiter) ExtensionName() string { return "Limiter" }

// Validate implements graphql.HandlerExtension.
func (limiter) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationParameters measures the document before it is validated.
func (limiter) MutateOperationParameters(_ context.Context, request *graphql.RawParams) *gqlerror.Error {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: request.Query}, maxTokens)
	if err != nil {
		return nil // the parser will say so itself
	}
	m := &measure{document: document, variables: request.Variables, fragments: map[string]*size{}, repeats: map[string]int{}}
	// What is not used is validated all the same, and so it counts.
	for _, operation := range document.Operations {
		m.operation, m.fragments = operation, map[string]*size{} // a fragment's pages follow the operation's variables
		total := m.selections(operation.SelectionSet)
		if request.OperationName != "" && operation.Name != request.OperationName {
			total.fields = 0 // it does not run
		}
		if fault := total.check(); fault != nil {
			return fault
		}
	}
	for _, fragment := range document.Fragments {
		if fault := m.fragment(fragment.Name).check(); fault != nil {
			return fault
		}
	}
	for name, n := range m.repeats {
		if n > maxRepeats {
			return tooCostly(fmt.Sprintf("selects %q %d times", name, n), maxRepeats, "select it once where it is needed")
		}
	}
	return nil
}

// tooCostly refuses a document.
func tooCostly(what string, most int, way string) *gqlerror.Error {
	return &gqlerror.Error{
		Message:    fmt.Sprintf("The document %s; at most %d are allowed: %s.", what, most, way),
		Extensions: map[string]any{"code": store.Unprocessable},
	}
}

// size is what a selection set comes to.
type size struct {
	depth, selections, fields int
}

const enormous = 1 << 40 // sums and products stop here, before they overflow

func (s *size) add(o size) {
	s.depth = max(s.depth, o.depth)
	s.selections = min(enormous, s.selections+o.selections)
	s.fields = min(enormous, s.fields+o.fields)
}

func (s size) check() *gqlerror.Error {
	for _, bound := range []struct {
		what    string
		n, most int
		way     string
	}{
		{"nests fields %d deep", s.depth, maxDepth, "nest less"},
		{"selects %d fields", s.selections, maxSelections, "select fewer, or send several operations"},
		{"could answer %d fields", s.fields, maxFields, "ask for smaller pages"},
	} {
		if bound.n > bound.most {
			return tooCostly(fmt.Sprintf(bound.what, bound.n), bound.most, bound.way)
		}
	}
	return nil
}

// measure walks a document; each fragment is walked once.
type measure struct {
	document  *ast.QueryDocument
	operation *ast.OperationDefinition
	variables map[string]any
	fragments map[string]*size
	repeats   map[string]int // by the name in the answer, each fragment counted once
}

func (m *measure) selections(set ast.SelectionSet) (total size) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			total.add(m.field(selection))
		case *ast.InlineFragment:
			total.add(m.selections(selection.SelectionSet))
		case *ast.FragmentSpread:
			total.add(m.fragment(selection.Name))
		}
	}
	return total
}

func (m *measure) field(field *ast.Field) size {
	m.repeats[field.Alias]++
	below := m.selections(field.SelectionSet)
	return size{
		depth:      below.depth + 1,
		selections: below.selections + 1,
		fields:     min(enormous, 1+below.fields*m.rows(field)),
	}
}

// rows is how many rows the field's page holds, or 1.
func (m *measure) rows(field *ast.Field) int {
	for _, name := range []string{"first", "last"} {
		argument := field.Arguments.ForName(name)
		if argument == nil {
			continue
		}
		text := argument.Value.Raw
		if argument.Value.Kind == ast.Variable {
			text = m.variable(text)
		}
		if n, err := strconv.Atoi(text); err == nil {
			return min(store.MaxPageLength, max(1, n))
		}
		return store.DefaultPageLength
	}
	switch field.Name { // lists without the arguments have the default page
	case "products", "stocks", "stocksById", "stockTransactions", "catalogNodes", "hierarchies", "allNodes", "curatedProducts",
		"children", "childrenConnection", "componentProducts", "componentProductsConnection",
		"catalogs", "catalogRules", "authoredHierarchies", "authoredNodes", "promotionCodeUsages":
		return store.DefaultPageLength
	}
	return 1
}

// variable is the value that a variable has, or its default.
func (m *measure) variable(name string) string {
	if value, given := m.variables[name]; given {
		return fmt.Sprint(value)
	}
	if definition := m.operation.VariableDefinitions.ForName(name); definition != nil && definition.DefaultValue != nil {
		return definition.DefaultValue.Raw
	}
	return ""
}

// fragment measures a fragment; one that spreads itself is left to validation.
func (m *measure) fragment(name string) size {
	if known := m.fragments[name]; known != nil {
		return *known
	}
	m.fragments[name] = &size{}
	definition := m.document.Fragments.ForName(name)
	if definition == nil {
		return size{}
	}
	total := m.selections(definition.SelectionSet)
	m.fragments[name] = &total
	return total
}
