package graph

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

const (
	longText    = 64 // bytes of a name or value that cost one more
	relatedRows = 2  // of a list that tells no length; what it brings beyond is spent of the budget
)

// pricing knows how long the lists of introspection are on average, which
// depends on the schema alone. They count half as much again: the library makes
// them anew each time. Every second type has one within.
type pricing struct {
	bounds Bounds
	schema *ast.Schema
	listed map[string]float64 // rows, by coordinate: __Schema.types
	heft   map[string]float64 // of a type, which is 1 on average
}

func newPricing(schema *ast.Schema, bounds Bounds) *pricing {
	var types, fields, arguments, inputs, values, kinds float64
	for _, definition := range schema.Types {
		types++
		kinds += float64(len(definition.Interfaces) + len(schema.GetPossibleTypes(definition)))
		values += float64(len(definition.EnumValues))
		if definition.Kind == ast.InputObject {
			inputs += float64(len(definition.Fields))
			continue
		}
		fields += float64(len(definition.Fields))
		for _, field := range definition.Fields {
			arguments += float64(len(field.Arguments))
		}
	}
	heft := make(map[string]float64, len(schema.Types))
	for name, definition := range schema.Types {
		n := len(definition.EnumValues) + len(definition.Fields)
		for _, field := range definition.Fields {
			n += len(field.Arguments)
		}
		heft[name] = max(1, float64(n)*types/(fields+arguments+inputs+values))
	}
	return &pricing{bounds, schema, map[string]float64{
		"__Schema.types": 1.5 * types, "__Schema.directives": 1.5 * float64(len(schema.Directives)), "__Type.ofType": 0.5,
		"__Type.fields": fields / types, "__Type.inputFields": inputs / types, "__Type.enumValues": values / types,
		"__Type.interfaces": kinds / types, "__Type.possibleTypes": kinds / types,
		"__Field.args": arguments / fields, "__Directive.args": 2,
	}, heft}
}

// check refuses a validated operation whose answer would cost too much, with
// these variables. What it lets pass has a budget for the lists whose length
// nobody knows beforehand.
func (p *pricing) check(operation *ast.OperationDefinition, variables map[string]any) (allowance, *Cost, *gqlerror.Error) {
	b := p.bill(operation, variables)
	cost := int(math.Ceil(b.selections(operation.SelectionSet).of(1)))
	allowed := allowance{weights: b.unsized, node: b.nodes, most: int64(p.bounds.Cost), estimated: int64(cost)}
	if b.byGqlgen {
		allowed.estimated, allowed.field = 0, gqlgenField // its fields are charged as they are run
	}
	if cost > p.bounds.Cost {
		return allowed, &Cost{cost, p.bounds.Cost}, p.refusal(operation, variables, cost)
	}
	return allowed, &Cost{cost, p.bounds.Cost}, nil
}

func (p *pricing) bill(operation *ast.OperationDefinition, variables map[string]any) *bill {
	b := &bill{pricing: p, operation: operation, variables: variables, pages: store.MaxPageLength, factor: 1, value: valueWeight,
		sizes: map[string]float64{}, fragments: map[string]fragmentPrice{}, unsized: map[string]float64{}}
	if b.byGqlgen = operation.Operation != ast.Query || introspects(operation.SelectionSet, map[string]bool{}); b.byGqlgen {
		b.factor = gqlgenFactor
	}
	if operation.Operation == ast.Mutation {
		b.value = mutationWeight
	}
	return b
}

// bill adds up what an operation costs: fields by the rows they are read for,
// as far as page sizes and the lengths of lists tell, what its arguments
// weigh, and what introspection lists.
type bill struct {
	*pricing
	operation *ast.OperationDefinition
	variables map[string]any
	pages     float64            // rows that a page may have: the longest, or fewer to try whether they fit
	byGqlgen  bool               // gqlgen's executor runs the operation
	factor    float64            // of each field
	value     float64            // what a value of an argument costs
	sizes     map[string]float64 // of variables
	fragments map[string]fragmentPrice
	nodes     float64            // what a row of the metered lists costs, in all places where they are selected
	unsized   map[string]float64 // what a row of a list that tells no length costs, by the field's name
}

// price is what a selection costs: once, and for each row of the page that it
// is selected of.
type price struct{ once, row float64 }

// fragmentPrice is what a fragment costs wherever it is spread, and what it adds
// to bill.nodes.
type fragmentPrice struct {
	price
	nodes float64
}

func (p *price) add(o price) {
	p.once, p.row = min(enormous, p.once+o.once), min(enormous, p.row+o.row)
}

// of is the price of so many rows.
func (p price) of(rows float64) float64 { return min(enormous, p.once+p.row*rows) }

func (b *bill) selections(set ast.SelectionSet) (cost price) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			if b.included(selection.Directives) {
				cost.add(b.selected(selection))
			}
		case *ast.InlineFragment:
			if b.included(selection.Directives) {
				cost.add(b.selections(selection.SelectionSet))
			}
		case *ast.FragmentSpread:
			if !b.included(selection.Directives) {
				continue
			}
			known, ok := b.fragments[selection.Name]
			if ok {
				b.nodes = min(enormous, b.nodes+known.nodes)
			} else {
				before := b.nodes
				known.price = b.selections(selection.Definition.SelectionSet)
				known.nodes = b.nodes - before
				b.fragments[selection.Name] = known
			}
			cost.add(known.price)
		}
	}
	return cost
}

// selected is what a field costs: the rows of a connection are its edges and
// nodes; what it tells of the whole list, facets and totals, is there once.
func (b *bill) selected(field *ast.Field) price {
	cost := b.field(field)
	if isConnection(field.ObjectDefinition) && (field.Name == "edges" || field.Name == "nodes") {
		return price{row: cost}
	}
	return price{once: cost}
}

func isConnection(of *ast.Definition) bool { return strings.HasSuffix(of.Name, "Connection") }

// included tells whether the directives leave a selection in the answer. What
// they leave out costs nothing but its validation.
func (b *bill) included(directives ast.DirectiveList) bool {
	for _, directive := range directives {
		condition := directive.Arguments.ForName("if")
		if condition != nil && (directive.Name == "skip" && b.truth(condition.Value) == "true" || directive.Name == "include" && b.truth(condition.Value) == "false") {
			return false
		}
	}
	return true
}

// truth is "true" or "false", as it is written, or as a variable has it.
func (b *bill) truth(value *ast.Value) string {
	if value.Kind != ast.Variable {
		return value.Raw
	}
	if given, ok := b.variables[value.Raw]; ok {
		return fmt.Sprint(given)
	}
	if definition := b.operation.VariableDefinitions.ForName(value.Raw); definition != nil && definition.DefaultValue != nil {
		return definition.DefaultValue.Raw
	}
	return ""
}

func (b *bill) field(field *ast.Field) float64 {
	cost := b.fieldWeight(field.ObjectDefinition, field.Definition) + float64(len(field.Alias)/longText)
	for _, argument := range field.Arguments {
		cost += b.argument(argument.Name, argument.Value)
	}
	if !strings.HasPrefix(field.Name, "__") && !strings.HasPrefix(field.ObjectDefinition.Name, "__") {
		cost *= b.factor
	}
	if field.SelectionSet == nil {
		return cost
	}
	below := b.selections(field.SelectionSet)
	below.row += rowWeights[field.ObjectDefinition.Name+"."+field.Name]
	switch {
	case slices.Contains(meteredLists, field.ObjectDefinition.Name+"."+field.Name):
		b.nodes = min(enormous, b.nodes+below.row)
		return min(enormous, cost+below.once)
	case b.isUnsized(field):
		b.unsized[field.Name] = max(b.unsized[field.Name], below.of(1))
		return min(enormous, cost+below.of(1)*relatedRows)
	case isConnection(b.schema.Types[field.Definition.Type.Name()]):
		return min(enormous, cost+below.of(b.rows(field)))
	}
	return min(enormous, cost+below.of(1)*b.rows(field))
}

// rows is how many rows a field has.
func (b *bill) rows(field *ast.Field) float64 {
	switch field.Name { // one type, which may be a heavy one
	case "__type":
		return max(1, b.heft[b.text(field.Arguments.ForName("name"))])
	case "queryType":
		return b.heft[b.schema.Query.Name]
	case "mutationType":
		return b.heft[b.schema.Mutation.Name]
	case "subscriptionType":
		return b.heft[b.schema.Subscription.Name]
	}
	if listed, ok := b.listed[field.ObjectDefinition.Name+"."+field.Name]; ok {
		return listed
	}
	for _, name := range []string{"first", "last"} {
		if argument := field.Arguments.ForName(name); argument != nil {
			if n, ok := b.number(argument.Value); ok {
				return min(b.pages, max(1, n))
			}
		}
	}
	if definition := field.Definition.Arguments.ForName("first"); definition != nil {
		if definition.DefaultValue != nil {
			if n, err := strconv.ParseFloat(definition.DefaultValue.Raw, 64); err == nil {
				return min(b.pages, n)
			}
		}
		return min(b.pages, store.DefaultPageLength)
	}
	for _, argument := range field.Arguments { // things by their ids
		if field.Definition.Type.Elem != nil && argument.Value.ExpectedType.Elem != nil {
			return min(b.pages, max(1, b.length(argument.Value)))
		}
	}
	return 1 // one thing, or a page's rows, or what a row holds itself, such as tiers of a price
}

// isUnsized tells lists of things that have lists of their own, and are asked
// here for all there are: the children of a product, the trails to its nodes.
func (b *bill) isUnsized(field *ast.Field) bool {
	of := b.schema.Types[field.Definition.Type.Name()]
	return field.Definition.Type.Elem != nil && len(field.Definition.Arguments) == 0 &&
		!isConnection(field.ObjectDefinition) && field.ObjectDefinition != b.schema.Query &&
		(b.isNode(of) || slices.ContainsFunc(of.Fields, func(f *ast.FieldDefinition) bool { return b.isNode(b.schema.Types[f.Type.Name()]) }))
}

func (b *bill) isNode(of *ast.Definition) bool { return slices.Contains(of.Interfaces, "Node") }

// text is a text that is written, or that a variable has.
func (b *bill) text(argument *ast.Argument) string {
	if argument.Value.Kind != ast.Variable {
		return argument.Value.Raw
	}
	if given, ok := b.variables[argument.Value.Raw].(string); ok {
		return given
	}
	if definition := b.operation.VariableDefinitions.ForName(argument.Value.Raw); definition != nil && definition.DefaultValue != nil {
		return definition.DefaultValue.Raw
	}
	return ""
}

// number is a number that is written, or that a variable has.
func (b *bill) number(value *ast.Value) (n float64, ok bool) {
	text := value.Raw
	if value.Kind == ast.Variable {
		given, ok := b.variables[text]
		if !ok {
			definition := b.operation.VariableDefinitions.ForName(text)
			if definition == nil || definition.DefaultValue == nil {
				return 0, false
			}
			text = definition.DefaultValue.Raw
		} else if number, isInt := given.(int64); isInt {
			return float64(number), true
		} else {
			return 0, false
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil
}

// length is how many elements a list has.
func (b *bill) length(value *ast.Value) float64 {
	if list, ok := b.variables[value.Raw].([]any); ok && value.Kind == ast.Variable {
		return float64(len(list))
	}
	return float64(len(value.Children))
}

// argument is what an argument costs: its values, long texts being several,
// and what some members of inputs make the store do.
func (b *bill) argument(name string, value *ast.Value) float64 {
	if value.Kind == ast.Variable {
		known, ok := b.sizes[value.Raw]
		if !ok {
			known = b.weight(b.variables[value.Raw])
			b.sizes[value.Raw] = known
		}
		if b.variables[value.Raw] == nil {
			return 0
		}
		return memberWeights[name] + known
	}
	if value.Kind == ast.NullValue {
		return 0
	}
	cost := memberWeights[name] + float64(len(value.Raw)/longText)*b.value
	for _, child := range value.Children {
		cost += b.value + b.argument(child.Name, child.Value)
	}
	return cost
}

// weight is what the value of a variable costs.
func (b *bill) weight(value any) (cost float64) {
	switch value := value.(type) {
	case string:
		return float64(len(value)/longText) * b.value
	case json.Number:
		return float64(len(value)/longText) * b.value
	case []any:
		for _, element := range value {
			cost += b.value + b.weight(element)
		}
	case map[string]any:
		for name, member := range value {
			cost += b.value*float64(1+len(name)/longText) + b.weight(member)
			if member != nil {
				cost += memberWeights[name]
			}
		}
	}
	return cost
}
