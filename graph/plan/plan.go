// Package plan runs GraphQL queries by plans that are compiled once from a
// validated document, and writes their answers as they are read, byte by byte
// as gqlgen's own executor would. What it must know of a schema is generated
// beside gqlgen's code: functions that write the fields of each object type.
//
// A plan runs on one goroutine. Rows that an edge brought side by side fetch
// what they refer to together, so one after the other costs no more statements
// than all at once.
//
// It imports gqlgen and its parser, and knows no word of any schema.
package plan

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Object is an object type of the schema.
type Object struct {
	Name      string
	Satisfies []string                // the conditions of fragments that it meets: its own name and its interfaces'
	Fields    map[string]*Description // by name
}

// Description is what a plan knows of a field's definition.
type Description struct {
	Number  int  // tells the fields of an object type apart; 0 is __typename
	NonNull bool // a null in it makes its object null
	Live    bool // it changes while all that surrounds it stays the same
	Edge    bool // it is more than what its row holds: resolving it may fail, or cost
	Apart   bool // it does not follow from what its row shows of itself
	Kept    bool // though apart, it is kept in fragments of its row, with what they show below it
}

var typename = &Description{NonNull: true}

// Plan is how one operation of a document runs, for one choice of its
// conditions: the Booleans of its @skip and @include. It is safe for
// concurrent use, and lives as long as its document is kept.
type Plan struct {
	root       *Selection
	roots      []string
	document   *ast.QueryDocument
	conditions map[string]any
	runner     *Runner
}

// Roots are the names of the fields that are asked of the query, each once for
// each time it is asked.
func (p *Plan) Roots() []string { return p.roots }

// compile makes the plan of a query for the values of its conditions; nil for
// one that asks for the schema itself.
func (n *Runner) compile(document *ast.QueryDocument, operation *ast.OperationDefinition, conditions map[string]any) *Plan {
	p := &Plan{document: document, conditions: conditions, runner: n}
	p.root = &Selection{plan: p, set: operation.SelectionSet}
	fields := p.root.Of(n.query).List
	for i := range fields {
		if fields[i].description == nil {
			return nil // __schema or __type
		}
		p.roots = append(p.roots, fields[i].collected.Name)
	}
	return p
}

// Selection is what a field selects of what it answers, whatever that is.
type Selection struct {
	plan  *Plan
	set   ast.SelectionSet
	known atomic.Pointer[Fields] // by object type, linked
	mu    sync.Mutex
}

// Of is what is selected of an object type. It is worked out when the first
// object of that type comes.
func (s *Selection) Of(object *Object) *Fields {
	for fields := s.known.Load(); fields != nil; fields = fields.next {
		if fields.object == object {
			return fields
		}
	}
	return s.collect(object)
}

func (s *Selection) collect(object *Object) *Fields {
	s.mu.Lock()
	defer s.mu.Unlock()
	for fields := s.known.Load(); fields != nil; fields = fields.next {
		if fields.object == object {
			return fields // another was as quick
		}
	}
	collected := graphql.CollectFields(&graphql.OperationContext{Doc: s.plan.document, Variables: s.plan.conditions}, s.set, object.Satisfies)
	fields := &Fields{object: object, List: make([]Field, len(collected)), next: s.known.Load(), step: s.plan.runner.steps.Add(1)}
	for i := range collected {
		fields.List[i].describe(s.plan, object, collected[i], i == 0)
		switch f := &fields.List[i]; {
		case !f.kept:
		case f.description.Kept:
			fields.edges = append(fields.edges, f.collected.Name)
			fields.own += leastOwn
		default:
			fields.own++
		}
	}
	s.known.Store(fields)
	return fields
}

// Fields are those that are selected of an object type, in the order of the
// answer.
type Fields struct {
	List   []Field
	object *Object
	next   *Fields
	step   uint64   // which no others have, in any plan of the runner
	own    int      // how much of it fragments hold
	edges  []string // that they hold
}

// Field is a field that is selected.
type Field struct {
	Number int // which of its type's it is
	Selection

	description *Description
	key         []byte // what stands before its value: `{"name":` or `,"name":`
	collected   graphql.CollectedField
	kept        bool                           // fragments of its row hold it
	constant    bool                           // its arguments hold no variables
	arguments   atomic.Pointer[map[string]any] // read already, where they are constant
}

func (f *Field) describe(p *Plan, object *Object, collected graphql.CollectedField, first bool) {
	f.plan, f.set, f.collected = p, collected.Selections, collected
	f.description = object.Fields[collected.Name]
	if collected.Name == "__typename" {
		f.description = typename
	}
	if f.description == nil {
		return
	}
	f.Number = f.description.Number
	f.kept = (!f.description.Apart || f.description.Kept) && p.runner.shown(collected.Selections)
	separator := byte(',')
	if first {
		separator = '{'
	}
	f.key = fmt.Appendf(make([]byte, 0, len(collected.Alias)+4), `%c"%s":`, separator, strings.Clone(collected.Alias))
	f.constant = !slices.ContainsFunc(collected.Arguments, func(a *ast.Argument) bool { return variable(a.Value) })
}

// variable tells whether a value is a variable, or holds one.
func variable(value *ast.Value) bool {
	return value.Kind == ast.Variable ||
		slices.ContainsFunc(value.Children, func(child *ast.ChildValue) bool { return variable(child.Value) })
}
