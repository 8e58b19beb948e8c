package limits

import (
	"cmp"
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
	longTextBytes = 64 // bytes of a name or value that cost one more
	EstimatedRows = 2  // of a list of unknown length; further rows are charged when the operation runs
)

// A field costs its weight (weight.go) times its rows. The arguments first, last and ids tell the rows
// of most lists. Lists of unknown length are estimated at EstimatedRows; further rows are charged when
// the operation runs. Metered lists, the nodes of menus, are charged only then, by their rows.

// Cost is the cost of an operation before it runs, in the units of Config.Cost.
type Cost struct {
	Requested int `json:"requested"`
	Limit     int `json:"limit"`
}

// Allowance is the budget of each run of an operation.
type Allowance struct {
	Max            int64              // units that the run may cost
	Estimated      int64              // units that it was estimated to cost
	RowCosts       map[string]float64 // units of a row of a list of unknown length, by the field's name
	MeteredRowCost float64            // units of a row of a metered list
	FieldBytes     int                // bytes of each field, if gqlgen's executor runs the operation
}

// CostEstimator estimates the cost of operations. For introspection it knows the average lengths of the
// schema's lists, times 1.2 for those that gqlgen builds anew for each request.
type CostEstimator struct {
	config      Config
	schema      *ast.Schema
	listLengths map[string]float64 // rows, by coordinate: __Schema.types
	typeSize    map[string]float64 // members of a type, relative to the average type
}

// NewCostEstimator returns an estimator for a schema. It counts the types, fields, arguments, input members and enum values of the
// schema, and the links between types and interfaces, for the average lengths.
func NewCostEstimator(schema *ast.Schema, config Config) *CostEstimator {
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
	sizes := make(map[string]float64, len(schema.Types))
	for name, definition := range schema.Types {
		n := len(definition.EnumValues) + len(definition.Fields)
		for _, field := range definition.Fields {
			n += len(field.Arguments)
		}
		sizes[name] = max(1, float64(n)*types/(fields+arguments+inputs+values))
	}
	return &CostEstimator{config, schema, map[string]float64{
		"__Schema.types": 1.2 * types, "__Schema.directives": 1.2 * float64(len(schema.Directives)), "__Type.ofType": 0.5,
		"__Type.fields": fields / types, "__Type.inputFields": inputs / types, "__Type.enumValues": values / types,
		"__Type.interfaces": kinds / types, "__Type.possibleTypes": kinds / types,
		"__Field.args": arguments / fields, "__Directive.args": 2,
	}, sizes}
}

// Check returns the estimated cost of a validated operation with its variables, and an error if that
// exceeds the limit. Allowance is the budget for the lists of unknown length.
func (e *CostEstimator) Check(operation *ast.OperationDefinition, variables map[string]any) (Allowance, *Cost, *gqlerror.Error) {
	c := e.newOperationCost(operation, variables)
	cost := int(math.Ceil(c.selectionSet(operation.SelectionSet).forRows(1)))
	allowed := Allowance{RowCosts: c.unsized, MeteredRowCost: c.meteredCost, Max: int64(e.config.Cost), Estimated: int64(cost)}
	if c.byGqlgen {
		allowed.FieldBytes = gqlgenField // fields are charged when they run
	}
	if cost > e.config.Cost {
		return allowed, &Cost{cost, e.config.Cost}, e.tooExpensive(operation, variables, cost)
	}
	return allowed, &Cost{cost, e.config.Cost}, nil
}

// newOperationCost returns the state of an estimate that has visited nothing yet.
func (e *CostEstimator) newOperationCost(operation *ast.OperationDefinition, variables map[string]any) *operationCost {
	c := &operationCost{CostEstimator: e, operation: operation, variables: variables, maxPage: math.MaxInt32, factor: 1, valueWeight: valueWeight,
		variableCosts: map[string]float64{}, fragments: map[string]fragmentCost{}, unsized: map[string]float64{}}
	if c.byGqlgen = operation.Operation != ast.Query || SelectsSchema(operation.SelectionSet, map[string]bool{}); c.byGqlgen {
		c.factor = gqlgenFactor
	}
	if operation.Operation == ast.Mutation {
		c.valueWeight = mutationWeight
		c.eachField(operation.SelectionSet, func(field *ast.Field) { c.items = max(c.items, c.itemsOf(field)) })
	}
	return c
}

// operationCost estimates one operation: its fields for each row, by page sizes and list lengths, and its
// arguments.
type operationCost struct {
	*CostEstimator
	operation     *ast.OperationDefinition
	variables     map[string]any
	maxPage       float64                 // largest page size; largestPage tries smaller ones
	longest       float64                 // page of a list that was visited
	byGqlgen      bool                    // gqlgen's executor runs the operation
	factor        float64                 // of each field
	valueWeight   float64                 // of each value of an argument
	variableCosts map[string]float64      // by variable
	fragments     map[string]fragmentCost // of those visited, by name
	items         float64                 // largest number of items or ids of a mutation
	meteredCost   float64                 // of a row of each metered list, added up
	unsized       map[string]float64      // of a row of a list of unknown length, by field name
}

// rowCost is the cost of a selection: once, and for each row of its page. Only a connection has
// pages: elsewhere both parts are for each object.
type rowCost struct{ once, row float64 }

// fragmentCost is the cost of a fragment at each spread; metered is its part of meteredCost.
type fragmentCost struct {
	rowCost
	metered float64
}

func (c *rowCost) add(o rowCost) {
	c.once, c.row = min(maxSum, c.once+o.once), min(maxSum, c.row+o.row)
}

// forRows is the cost of a selection with so many rows.
func (c rowCost) forRows(rows float64) float64 { return min(maxSum, c.once+c.row*rows) }

// selectionSet adds up the cost of a selection set. It also adds metered lists to meteredCost, those of a fragment at each spread.
func (c *operationCost) selectionSet(set ast.SelectionSet) (cost rowCost) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			if c.included(selection.Directives) {
				cost.add(c.selected(selection))
			}
		case *ast.InlineFragment:
			if c.included(selection.Directives) {
				cost.add(c.selectionSet(selection.SelectionSet))
			}
		case *ast.FragmentSpread:
			if !c.included(selection.Directives) {
				continue
			}
			known, ok := c.fragments[selection.Name]
			if ok {
				c.meteredCost = min(maxSum, c.meteredCost+known.metered)
			} else {
				before := c.meteredCost
				known.rowCost = c.selectionSet(selection.Definition.SelectionSet)
				known.metered = c.meteredCost - before
				c.fragments[selection.Name] = known
			}
			cost.add(known.rowCost)
		}
	}
	return cost
}

// selected returns the cost of a field of a selection. Edges and nodes of a connection cost for each row,
// other fields (facets, totals) once.
func (c *operationCost) selected(field *ast.Field) rowCost {
	cost := c.field(field)
	if isConnection(field.ObjectDefinition) && (field.Name == "edges" || field.Name == "nodes") {
		return rowCost{row: cost}
	}
	return rowCost{once: cost}
}

func isConnection(of *ast.Definition) bool { return strings.HasSuffix(of.Name, "Connection") }

// included reports whether @skip and @include keep a selection.
func (c *operationCost) included(directives ast.DirectiveList) bool {
	for _, directive := range directives {
		condition := directive.Arguments.ForName("if")
		if condition != nil && (directive.Name == "skip" && c.boolean(condition.Value) == "true" || directive.Name == "include" && c.boolean(condition.Value) == "false") {
			return false
		}
	}
	return true
}

// boolean returns "true" or "false" for a literal or a variable; "" if unknown.
func (c *operationCost) boolean(value *ast.Value) string {
	if value.Kind != ast.Variable {
		return value.Raw
	}
	if given, ok := c.variables[value.Raw]; ok {
		return fmt.Sprint(given)
	}
	if definition := c.operation.VariableDefinitions.ForName(value.Raw); definition != nil && definition.DefaultValue != nil {
		return definition.DefaultValue.Raw
	}
	return ""
}

// field returns the cost of a field with its arguments and what is selected below it, for one object. A list of unknown length
// also sets unsized, and a metered list adds its row to meteredCost in place of the cost.
func (c *operationCost) field(field *ast.Field) float64 {
	cost := c.fieldWeight(field.ObjectDefinition, field.Definition) + float64(len(field.Alias)/longTextBytes)
	for _, argument := range field.Arguments {
		cost += c.argument(argument.Name, argument.Value)
	}
	if !strings.HasPrefix(field.Name, "__") && !strings.HasPrefix(field.ObjectDefinition.Name, "__") {
		cost *= c.factor
	}
	if field.SelectionSet == nil {
		return cost
	}
	below := c.selectionSet(field.SelectionSet)
	below.row += rowWeights[field.ObjectDefinition.Name+"."+field.Name]
	switch {
	case slices.Contains(meteredLists, field.ObjectDefinition.Name+"."+field.Name):
		c.meteredCost = min(maxSum, c.meteredCost+below.row)
		return min(maxSum, cost+below.once)
	case c.isUnsized(field):
		c.unsized[field.Name] = max(c.unsized[field.Name], below.forRows(1))
		return min(maxSum, cost+below.forRows(1)*EstimatedRows)
	case isConnection(c.schema.Types[field.Definition.Type.Name()]):
		return min(maxSum, cost+below.forRows(c.rows(field)))
	}
	return min(maxSum, cost+below.forRows(1)*c.rows(field))
}

// rows returns the estimated number of rows of a field. The first that the field has decides: a list or type of the introspection,
// the writes of a mutation, first or last, the default of first, a list of ids. Anything else is one row.
func (c *operationCost) rows(field *ast.Field) float64 {
	switch field.Name { // one type, by its size
	case "__type":
		return max(1, c.typeSize[c.text(field.Arguments.ForName("name"))])
	case "queryType":
		return c.typeSize[c.schema.Query.Name]
	case "mutationType":
		return c.typeSize[c.schema.Mutation.Name]
	case "subscriptionType":
		return c.typeSize[c.schema.Subscription.Name]
	}
	if listed, ok := c.listLengths[field.ObjectDefinition.Name+"."+field.Name]; ok {
		return listed
	}
	if field.ObjectDefinition.Name == "AuthoredWrite" && field.Name == "node" {
		return max(1, c.items)
	}
	for _, name := range []string{"first", "last"} {
		if argument := field.Arguments.ForName(name); argument != nil {
			if n, ok := c.number(argument.Value); ok {
				return c.page(field, n)
			}
		}
	}
	if definition := field.Definition.Arguments.ForName("first"); definition != nil {
		return c.page(field, cmp.Or(defaultNumber(definition), store.DefaultPageLength))
	}
	for _, argument := range field.Arguments { // resources by id
		if field.Definition.Type.Elem != nil && argument.Value.ExpectedType.Elem != nil {
			return c.page(field, c.length(argument.Value))
		}
	}
	return 1 // an object, or a list that is part of its row, such as the tiers of a price
}

// page returns the rows of a page of a field. A page has at most store.MaxPageLength rows, or as many as the default of the
// argument first, which is more for a sitemap.
func (c *operationCost) page(field *ast.Field, n float64) float64 {
	n = min(max(1, n), max(store.MaxPageLength, defaultNumber(field.Definition.Arguments.ForName("first"))))
	c.longest = max(c.longest, n)
	return min(c.maxPage, n)
}

// defaultNumber returns the default of an argument; 0 for none.
func defaultNumber(definition *ast.ArgumentDefinition) (n float64) {
	if definition != nil && definition.DefaultValue != nil {
		n, _ = strconv.ParseFloat(definition.DefaultValue.Raw, 64)
	}
	return n
}

// itemsOf returns how many items or ids the input of a mutation has, in a literal or a variable; 0 for none.
func (c *operationCost) itemsOf(mutation *ast.Field) (most float64) {
	for _, argument := range mutation.Arguments {
		input, _ := c.variables[argument.Value.Raw].(map[string]any)
		for _, name := range []string{"items", "ids"} {
			if list, ok := input[name].([]any); ok && argument.Value.Kind == ast.Variable {
				most = max(most, float64(len(list)))
			}
			if list := argument.Value.Children.ForName(name); list != nil {
				most = max(most, c.length(list))
			}
		}
	}
	return most
}

// isUnsized reports whether a field is a complete list of unknown length whose rows have lists: the
// children of a product, its breadcrumb trails.
func (c *operationCost) isUnsized(field *ast.Field) bool {
	of := c.schema.Types[field.Definition.Type.Name()]
	return field.Definition.Type.Elem != nil && len(field.Definition.Arguments) == 0 &&
		!isConnection(field.ObjectDefinition) && field.ObjectDefinition != c.schema.Query &&
		(c.isNode(of) || slices.ContainsFunc(of.Fields, func(f *ast.FieldDefinition) bool { return c.isNode(c.schema.Types[f.Type.Name()]) }))
}

// isNode reports whether an object type implements the interface Node.
func (c *operationCost) isNode(of *ast.Definition) bool {
	return slices.Contains(of.Interfaces, "Node")
}

// text returns the string of a literal or a variable.
func (c *operationCost) text(argument *ast.Argument) string {
	if argument.Value.Kind != ast.Variable {
		return argument.Value.Raw
	}
	if given, ok := c.variables[argument.Value.Raw].(string); ok {
		return given
	}
	if definition := c.operation.VariableDefinitions.ForName(argument.Value.Raw); definition != nil && definition.DefaultValue != nil {
		return definition.DefaultValue.Raw
	}
	return ""
}

// number returns the number of a literal or a variable. ok is false if it is null or absent.
func (c *operationCost) number(value *ast.Value) (n float64, ok bool) {
	text := value.Raw
	if value.Kind == ast.Variable {
		given, ok := c.variables[text]
		if !ok {
			definition := c.operation.VariableDefinitions.ForName(text)
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

// length returns the number of elements of a list.
func (c *operationCost) length(value *ast.Value) float64 {
	if list, ok := c.variables[value.Raw].([]any); ok && value.Kind == ast.Variable {
		return float64(len(list))
	}
	return float64(len(value.Children))
}

// argument returns the cost of an argument: its values, where long texts count as several, and
// memberWeights.
func (c *operationCost) argument(name string, value *ast.Value) float64 {
	if value.Kind == ast.Variable {
		known, ok := c.variableCosts[value.Raw]
		if !ok {
			known = c.variableCost(c.variables[value.Raw])
			c.variableCosts[value.Raw] = known
		}
		if c.variables[value.Raw] == nil {
			return 0
		}
		return memberWeights[name] + known
	}
	if value.Kind == ast.NullValue {
		return 0
	}
	cost := memberWeights[name] + float64(len(value.Raw)/longTextBytes)*c.valueWeight
	for _, child := range value.Children {
		cost += c.valueWeight + c.argument(child.Name, child.Value)
	}
	return cost
}

// variableCost returns the cost of a variable's value.
func (c *operationCost) variableCost(value any) (cost float64) {
	switch value := value.(type) {
	case string:
		return float64(len(value)/longTextBytes) * c.valueWeight
	case json.Number:
		return float64(len(value)/longTextBytes) * c.valueWeight
	case []any:
		for _, element := range value {
			cost += c.valueWeight + c.variableCost(element)
		}
	case map[string]any:
		for name, member := range value {
			cost += c.valueWeight*float64(1+len(name)/longTextBytes) + c.variableCost(member)
			if member != nil {
				cost += memberWeights[name]
			}
		}
	}
	return cost
}

// SelectsSchema reports whether a validated root selection set selects __schema or __type. seen
// holds the fragments that were searched before.
func SelectsSchema(set ast.SelectionSet, seen map[string]bool) bool {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			if selection.Name == "__schema" || selection.Name == "__type" {
				return true
			}
		case *ast.InlineFragment:
			if SelectsSchema(selection.SelectionSet, seen) {
				return true
			}
		case *ast.FragmentSpread:
			again := seen[selection.Name]
			seen[selection.Name] = true
			if !again && SelectsSchema(selection.Definition.SelectionSet, seen) {
				return true
			}
		}
	}
	return false
}
