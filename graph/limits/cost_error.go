package limits

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// tooExpensive returns the error of an operation that costs too much: it names the most expensive list
// and a page size that fits.
func (e *CostEstimator) tooExpensive(operation *ast.OperationDefinition, variables map[string]any, cost int) *gqlerror.Error {
	c := e.newOperationCost(operation, variables)
	path := c.describeCostliest(operation.SelectionSet)
	hint := "Select fewer fields, or send several operations."
	if fits := e.largestPage(operation, variables, int(c.longest)); fits > 0 {
		hint = fmt.Sprintf("It fits with at most %d rows in each list: lower first, last or the number of ids to that.", fits)
	}
	return &gqlerror.Error{
		Message: fmt.Sprintf("%s; the operation may cost %s, and could cost %s. %s",
			path, FormatCount(float64(e.config.Cost)), FormatCount(float64(cost)), hint),
		Extensions: map[string]any{"code": store.Unprocessable},
	}
}

// largestPage returns the largest page size below longest for all lists with which an operation that is too expensive would be within
// the limit; 0 if it is too expensive with every page size.
func (e *CostEstimator) largestPage(operation *ast.OperationDefinition, variables map[string]any, longest int) int {
	return sort.Search(longest, func(below int) bool { // the last size that fits is one below the first that does not
		c := e.newOperationCost(operation, variables)
		c.maxPage = float64(below + 1)
		return math.Ceil(c.selectionSet(operation.SelectionSet).forRows(1)) > float64(e.config.Cost)
	})
}

// describeCostliest describes the list that costs most: its path, with arguments as they were sent, and how many rows are requested. It
// goes down from the root along the fields that cost most, to the innermost list with several rows. Paths leave out edges, nodes and
// node of connections. Without such a list, the path ends at the first field that is selected several times, or else at the last one.
func (c *operationCost) describeCostliest(set ast.SelectionSet) string {
	var path, longest, repeated []string // down to the current field, to the innermost list, to the repeated field
	rows, most := 1., 1.                 // of the lists in path, and in longest
	each := ""                           // if a field of longest is selected several times
	for set != nil {
		field, times := c.mostExpensive(set)
		if field == nil {
			break
		}
		set = field.SelectionSet
		if isConnection(field.ObjectDefinition) && (field.Name == "edges" || field.Name == "nodes") ||
			field.Name == "node" && strings.HasSuffix(field.ObjectDefinition.Name, "Edge") {
			continue
		}
		path = append(path, FieldAsSent(field))
		if times > 1 && longest == nil {
			path[len(path)-1] = fmt.Sprintf("%s (%d times)", path[len(path)-1], times)
			repeated = slices.Clone(path)
		}
		coordinate := field.ObjectDefinition.Name + "." + field.Name
		if _, listed := c.listLengths[coordinate]; listed || strings.HasPrefix(field.Name, "__") {
			break // the schema decides their length
		}
		if n := c.rows(field); n > 1 && field.SelectionSet != nil && !slices.Contains(meteredLists, coordinate) {
			rows *= n
			longest, most = slices.Clone(path), rows
			if repeated != nil {
				each = " each time"
			}
		}
	}
	if longest == nil {
		if repeated != nil {
			path = repeated
		}
		return strings.Join(path, ".") + " costs most"
	}
	return fmt.Sprintf("%s: %s rows%s", strings.Join(longest, "."), FormatCount(most), each)
}

// FieldAsSent returns the name of a field with its arguments as the document has them: `products(first: 100, filter: $filter)`. It
// leaves out texts, lists and objects, which may be long or secret: `by: …`.
func FieldAsSent(field *ast.Field) string {
	arguments := make([]string, len(field.Arguments))
	for i, argument := range field.Arguments {
		value := "…"
		switch argument.Value.Kind {
		case ast.Variable:
			value = "$" + argument.Value.Raw
		case ast.IntValue, ast.BooleanValue, ast.EnumValue, ast.NullValue:
			value = store.Abbreviate(argument.Value.Raw)
		}
		arguments[i] = argument.Name + ": " + value
	}
	if len(arguments) == 0 {
		return field.Name
	}
	return field.Name + "(" + strings.Join(arguments, ", ") + ")"
}

// mostExpensive returns the field of a selection that costs most, with others of its name, and how many
// they are; nil for none.
func (c *operationCost) mostExpensive(set ast.SelectionSet) (heaviest *ast.Field, times int) {
	costs, fields, count := map[string]float64{}, map[string]*ast.Field{}, map[string]int{}
	var names []string
	c.eachField(set, func(field *ast.Field) {
		if fields[field.Name] == nil {
			names = append(names, field.Name)
		}
		cost := c.field(field)
		if known := fields[field.Name]; known == nil || cost > c.field(known) {
			fields[field.Name] = field
		}
		costs[field.Name] += cost
		count[field.Name]++
	})
	most := 0.
	for _, name := range names {
		if costs[name] > most {
			heaviest, times, most = fields[name], count[name], costs[name]
		}
	}
	return heaviest, times
}

// eachField yields the fields of a selection and its fragments.
func (c *operationCost) eachField(set ast.SelectionSet, yield func(*ast.Field)) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			if c.included(selection.Directives) {
				yield(selection)
			}
		case *ast.InlineFragment:
			if c.included(selection.Directives) {
				c.eachField(selection.SelectionSet, yield)
			}
		case *ast.FragmentSpread:
			if c.included(selection.Directives) {
				c.eachField(selection.Definition.SelectionSet, yield)
			}
		}
	}
}

// FormatCount formats a number with thousands separators: 60,000.
func FormatCount(n float64) string {
	text := fmt.Sprintf("%.0f", n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
