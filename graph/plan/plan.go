// Package plan compiles GraphQL queries to plans and writes their responses, byte for byte as gqlgen's
// executor would. Runner compiles a Plan and runs it as a Run, with each root field on one goroutine; the
// functions that write the fields of each object type are generated beside gqlgen's code. The package must
// not import a schema, resolvers or the store.
package plan

import (
	"fmt"
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/internal/heapsize"
)

var typenameInfo = &FieldInfo{NonNull: true}

// Compile compiles a query of a validated document for coerced variables. It returns nil
// for a query with introspection fields only.
func (n *Runner) Compile(operation *ast.OperationDefinition, variables map[string]any) *Plan {
	conditions := ConditionVariables(operation)
	p := &Plan{runner: n, conditions: make(map[string]bool, len(conditions)), seed: maphash.MakeSeed(), compiled: map[uint64]*Fields{}}
	for _, name := range conditions {
		p.conditions[name] = variables[name] == true
	}
	p.grow(planBytes + heapsize.Map(len(conditions), 17)) // 17 bytes: a string and a bool
	p.root = Selection{plan: p, set: operation.SelectionSet}
	ofSchema, ofData := false, false
	fields := p.root.Of(n.query).List
	for i := range fields {
		p.roots = append(p.roots, fields[i].collected.Name)
		ofSchema = ofSchema || fields[i].info.Introspection
		ofData = ofData || !fields[i].info.Introspection && fields[i].Number != 0
	}
	p.grow(heapsize.Slice(cap(p.roots), 16))
	if ofSchema && !ofData {
		return nil
	}
	return p
}

// Roots returns the names of the selected root fields, with repetitions.
func (p *Plan) Roots() []string { return p.roots }

// Size returns the memory of the plan in bytes, without the document.
func (p *Plan) Size() int { return int(p.size.Load()) }

// grow adds to the size.
func (p *Plan) grow(bytes int) { p.size.Add(int64(bytes)) }

// The memory of parts of a plan, in bytes.
const (
	planBytes     = int(unsafe.Sizeof(Plan{})) + 64
	fieldsBytes   = int(unsafe.Sizeof(Fields{})) + 48 // with its entry in Plan.compiled
	fieldBytes    = int(unsafe.Sizeof(Field{}))
	compiledBytes = int(unsafe.Sizeof(compiledFields{}))
)

// Of returns the fields selected on an object type. It compiles them on the first call.
func (s *Selection) Of(object *Object) *Fields {
	for known := s.compiled.Load(); known != nil; known = known.next {
		if known.object == object {
			return known.fields
		}
	}
	s.plan.mu.Lock()
	defer s.plan.mu.Unlock()
	first := s.compiled.Load()
	for known := first; known != nil; known = known.next {
		if known.object == object {
			return known.fields // compiled by another goroutine meanwhile
		}
	}
	fields := s.plan.compile(object, s.set)
	s.compiled.Store(&compiledFields{object, fields, first})
	s.plan.grow(compiledBytes)
	return fields
}

// compile returns the fields that a selection set selects on an object type. Equal
// selections, for example of a fragment that is spread twice, share the result.
func (p *Plan) compile(object *Object, set ast.SelectionSet) *Fields {
	selected := p.collect(nil, set, object, map[*ast.FragmentDefinition]bool{})
	var hash maphash.Hash
	hash.SetSeed(p.seed)
	maphash.WriteComparable(&hash, object)
	for _, field := range selected {
		maphash.WriteComparable(&hash, field)
	}
	key := hash.Sum64()
	for fields := p.compiled[key]; fields != nil; fields = fields.next {
		if fields.object == object && slices.Equal(fields.selected, selected) {
			return fields
		}
	}
	fields := p.merge(object, slices.Clip(slices.Clone(selected)))
	fields.next = p.compiled[key]
	p.compiled[key] = fields
	return fields
}

// collect appends the selected fields of the document, in document order.
func (p *Plan) collect(fields []*ast.Field, set ast.SelectionSet, object *Object, spread map[*ast.FragmentDefinition]bool) []*ast.Field {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			if p.included(selection.Directives) {
				fields = append(fields, selection)
			}
		case *ast.InlineFragment:
			if p.included(selection.Directives) && object.matches(selection.TypeCondition) {
				fields = p.collect(fields, selection.SelectionSet, object, spread)
			}
		case *ast.FragmentSpread:
			if fragment := selection.Definition; !spread[fragment] && p.included(selection.Directives) {
				spread[fragment] = true
				if object.matches(fragment.TypeCondition) {
					fields = p.collect(fields, fragment.SelectionSet, object, spread)
				}
			}
		}
	}
	return fields
}

// matches reports whether an object type meets a fragment's type condition.
func (o *Object) matches(condition string) bool {
	return condition == "" || slices.Contains(o.Satisfies, condition)
}

// merge merges the document's fields by response name, in the order in which the names first occur. It gives each an ordinal, and
// adds the memory to the plan's size.
func (p *Plan) merge(object *Object, selected []*ast.Field) *Fields {
	fields := &Fields{object: object, selected: selected}
	places := make(map[string]int, len(selected))
	for _, field := range selected {
		if _, merged := places[field.Alias]; !merged {
			places[field.Alias] = len(places)
		}
	}
	fields.List = make([]Field, len(places))
	for _, field := range selected {
		f := &fields.List[places[field.Alias]]
		if f.collected.Field == nil {
			f.collected = graphql.CollectedField{Field: field, Selections: field.SelectionSet}
		} else {
			f.collected.Selections = slices.Concat(f.collected.Selections, field.SelectionSet)
		}
	}
	size := fieldsBytes + heapsize.Slice(len(selected), 8) + heapsize.Slice(len(fields.List), fieldBytes)
	for i := range fields.List {
		f := &fields.List[i]
		f.prepare(p, object, i == 0)
		if set := f.collected.Selections; len(set) > len(f.collected.SelectionSet) {
			size += heapsize.Slice(cap(set), 16)
		}
		size += heapsize.Round(cap(f.key))
	}
	before := cap(p.fields)
	for i := range fields.List {
		fields.List[i].ordinal = int32(len(p.fields))
		p.fields = append(p.fields, &fields.List[i])
	}
	p.grow(size + 8*(cap(p.fields)-before))
	return fields
}

// prepare sets what does not depend on a run. first is the first field of its object.
func (f *Field) prepare(p *Plan, object *Object, first bool) {
	f.plan, f.set = p, f.collected.Selections
	f.info = object.Fields[f.collected.Name]
	if f.collected.Name == "__typename" {
		f.info = typenameInfo
	}
	f.Number = f.info.Number
	separator := byte(',')
	if first {
		separator = '{'
	}
	f.key = fmt.Appendf(make([]byte, 0, len(f.collected.Alias)+4), `%c"%s":`, separator, f.collected.Alias)
	f.constant = !slices.ContainsFunc(f.collected.Arguments, func(a *ast.Argument) bool { return hasVariable(a.Value) })
}

// hasVariable reports whether a value is or contains a variable.
func hasVariable(value *ast.Value) bool {
	return value.Kind == ast.Variable ||
		slices.ContainsFunc(value.Children, func(child *ast.ChildValue) bool { return hasVariable(child.Value) })
}

// ConditionVariables returns the Boolean variables in @skip and @include of a validated
// operation, sorted. Runs with equal values of them share a plan.
func ConditionVariables(operation *ast.OperationDefinition) (names []string) {
	add := func(directives ast.DirectiveList) {
		for _, directive := range directives {
			if value := conditionOf(directive); value != nil && value.Kind == ast.Variable && !slices.Contains(names, value.Raw) {
				names = append(names, value.Raw)
			}
		}
	}
	var seen map[*ast.FragmentDefinition]bool // nil until there is a fragment, for most operations have none
	var walk func(ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, selection := range set {
			switch selection := selection.(type) {
			case *ast.Field:
				add(selection.Directives)
				walk(selection.SelectionSet)
			case *ast.InlineFragment:
				add(selection.Directives)
				walk(selection.SelectionSet)
			case *ast.FragmentSpread:
				add(selection.Directives)
				if !seen[selection.Definition] {
					if seen == nil {
						seen = map[*ast.FragmentDefinition]bool{}
					}
					seen[selection.Definition] = true
					walk(selection.Definition.SelectionSet)
				}
			}
		}
	}
	walk(operation.SelectionSet)
	slices.Sort(names)
	return names
}

// conditionOf returns the value of @skip or @include, or nil for another directive.
func conditionOf(directive *ast.Directive) *ast.Value {
	if directive.Name != "skip" && directive.Name != "include" {
		return nil
	}
	return directive.Arguments.ForName("if").Value
}

// included reports whether directives leave a selection in the plan.
func (p *Plan) included(directives ast.DirectiveList) bool {
	for _, directive := range directives {
		value := conditionOf(directive)
		if value == nil {
			continue
		}
		holds := value.Raw == "true"
		if value.Kind == ast.Variable {
			holds = p.conditions[value.Raw]
		}
		if holds == (directive.Name == "skip") {
			return false
		}
	}
	return true
}
