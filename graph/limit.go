package graph

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

const enormous = 1 << 40 // sums and products stop here, before they overflow

// measure walks a document before it is validated: it knows no type, and the
// document may be wrong in every way.
type measure struct {
	bounds    Bounds
	document  *ast.QueryDocument
	defined   map[string]*ast.FragmentDefinition // the first of each name, as for validation
	fragments map[string]*extent
	circular  bool
}

// fits refuses a document that would cost too much to validate.
func fits(document *ast.QueryDocument, bounds Bounds) *gqlerror.Error {
	m := &measure{bounds: bounds, document: document,
		defined: make(map[string]*ast.FragmentDefinition, len(document.Fragments)), fragments: map[string]*extent{}}
	if fault := m.parts(); fault != nil {
		return fault
	}
	for _, fragment := range document.Fragments {
		if m.defined[fragment.Name] == nil {
			m.defined[fragment.Name] = fragment
		}
	}
	for _, hold := range []func() *gqlerror.Error{m.extents, m.steps, m.places} {
		if fault := hold(); fault != nil {
			return fault
		}
	}
	return nil
}

// parts holds what can be counted without following fragments.
func (m *measure) parts() *gqlerror.Error {
	p := parts{}
	for _, operation := range m.document.Operations {
		p.variables += len(operation.VariableDefinitions)
		p.name(operation.Name)
		for _, variable := range operation.VariableDefinitions {
			p.name(variable.Variable)
			p.typeName(variable.Type)
			p.value(variable.DefaultValue)
			p.directive(variable.Directives)
		}
		p.directive(operation.Directives)
		p.selections(operation.SelectionSet)
	}
	for _, fragment := range m.document.Fragments {
		p.name(fragment.Name)
		p.name(fragment.TypeCondition)
		p.directive(fragment.Directives)
		p.selections(fragment.SelectionSet)
	}
	return checkAll(
		bound{"defines %d operations", len(m.document.Operations), m.bounds.Operations, "send the one that is to run"},
		bound{"defines %d fragments", len(m.document.Fragments), m.bounds.Fragments, "send those that the operation spreads, or several operations"},
		bound{"defines %d variables", p.variables, m.bounds.Variables, "gather them in lists and inputs"},
		bound{"holds %d directives", p.directives, m.bounds.Directives, "select less, or send several operations"},
		bound{"holds a name of %d bytes", p.longest, m.bounds.Name, "take a shorter one"},
	)
}

// parts are counts of a document as it is written.
type parts struct{ variables, directives, longest int }

func (p *parts) name(name string) { p.longest = max(p.longest, len(name)) }

func (p *parts) typeName(of *ast.Type) {
	if of != nil {
		p.name(of.Name())
	}
}

func (p *parts) directive(list ast.DirectiveList) {
	p.directives += len(list)
	for _, directive := range list {
		p.name(directive.Name)
		p.arguments(directive.Arguments)
	}
}

func (p *parts) arguments(list ast.ArgumentList) {
	for _, argument := range list {
		p.name(argument.Name)
		p.value(argument.Value)
	}
}

func (p *parts) value(value *ast.Value) {
	if value == nil {
		return
	}
	if value.Kind == ast.EnumValue || value.Kind == ast.Variable {
		p.name(value.Raw)
	}
	for _, child := range value.Children {
		p.name(child.Name)
		p.value(child.Value)
	}
}

func (p *parts) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			p.name(selection.Name)
			p.name(selection.Alias)
			p.arguments(selection.Arguments)
			p.directive(selection.Directives)
			p.selections(selection.SelectionSet)
		case *ast.InlineFragment:
			p.name(selection.TypeCondition)
			p.directive(selection.Directives)
			p.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			p.name(selection.Name)
			p.directive(selection.Directives)
		}
	}
}

// extent is what a selection set comes to, each fragment counted wherever it
// is spread.
type extent struct {
	depth, fields int
	open          bool // it is being measured
}

func (e *extent) add(o extent) {
	e.depth = max(e.depth, o.depth)
	e.fields = min(enormous, e.fields+o.fields)
}

func (e extent) check(bounds Bounds) *gqlerror.Error {
	return checkAll(
		bound{"nests fields %d deep", e.depth, bounds.Depth, "nest less"},
		bound{"selects %d fields", e.fields, bounds.Fields, "select fewer, or send several operations"},
	)
}

// extents holds depth and fields of whatever validation reads, used or not.
func (m *measure) extents() *gqlerror.Error {
	var all extent
	for _, operation := range m.document.Operations {
		all.add(m.extent(operation.SelectionSet))
	}
	for _, fragment := range m.document.Fragments {
		if fault := m.fragment(fragment.Name).check(m.bounds); fault != nil {
			return fault
		}
	}
	return all.check(m.bounds)
}

func (m *measure) extent(set ast.SelectionSet) (total extent) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			below := m.extent(selection.SelectionSet)
			total.add(extent{depth: below.depth + 1, fields: below.fields + 1})
		case *ast.InlineFragment:
			total.add(m.extent(selection.SelectionSet))
		case *ast.FragmentSpread:
			total.add(m.fragment(selection.Name))
		}
	}
	return total
}

// fragment measures a fragment, once; one that spreads itself is left to
// validation.
func (m *measure) fragment(name string) extent {
	if known := m.fragments[name]; known != nil {
		m.circular = m.circular || known.open
		return *known
	}
	known := &extent{open: true}
	m.fragments[name] = known
	if definition := m.defined[name]; definition != nil {
		*known = m.extent(definition.SelectionSet)
	}
	known.open = false
	return *known
}

// steps holds what validation reads. It walks each operation and each
// fragment with all that they reach, each fragment once per walk: n fragments
// in a chain are walked n²/2 times.
func (m *measure) steps() *gqlerror.Error {
	own := make(map[string]*stride, len(m.defined))
	for name, fragment := range m.defined {
		own[name] = &stride{}
		own[name].selections(fragment.SelectionSet)
	}
	total := 0
	var reach func(seen map[string]bool, of *stride)
	reach = func(seen map[string]bool, of *stride) {
		total += of.steps
		for _, name := range of.spreads {
			if next := own[name]; next != nil && !seen[name] && total <= m.bounds.Steps {
				seen[name] = true
				reach(seen, next)
			}
		}
	}
	for _, operation := range m.document.Operations {
		from := &stride{}
		from.selections(operation.SelectionSet)
		reach(map[string]bool{}, from)
	}
	for _, fragment := range m.document.Fragments {
		from := &stride{}
		from.selections(fragment.SelectionSet)
		reach(map[string]bool{}, from)
	}
	return bound{"is read in %d steps or more, by fragments that spread fragments", total, m.bounds.Steps, "spread fewer, or send several operations"}.check()
}

// stride is what validation reads of a selection set itself.
type stride struct {
	steps   int
	spreads []string
}

func (s *stride) selections(set ast.SelectionSet) {
	for _, selection := range set {
		s.steps++
		switch selection := selection.(type) {
		case *ast.Field:
			s.arguments(selection.Arguments)
			s.directives(selection.Directives)
			s.selections(selection.SelectionSet)
		case *ast.InlineFragment:
			s.directives(selection.Directives)
			s.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			s.directives(selection.Directives)
			s.spreads = append(s.spreads, selection.Name)
		}
	}
}

func (s *stride) directives(list ast.DirectiveList) {
	for _, directive := range list {
		s.steps++
		s.arguments(directive.Arguments)
	}
}

func (s *stride) arguments(list ast.ArgumentList) {
	for _, argument := range list {
		s.value(argument.Value)
	}
}

func (s *stride) value(value *ast.Value) {
	s.steps++
	for _, child := range value.Children {
		s.value(child.Value)
	}
}

// place is a field of the answer, or the answer itself: the selections of one
// name in one place are merged, and compared for that.
type place struct {
	selected int
	below    map[string]*place
}

// places holds how many fields one place of the answer has, and how often
// each of them is selected.
func (m *measure) places() *gqlerror.Error {
	if m.circular {
		return nil // validation will say so
	}
	repeats := 0
	for _, operation := range m.document.Operations {
		var root place
		m.place(&root, operation.SelectionSet)
		if fault := (bound{"selects %d fields at its root", len(root.below), m.bounds.RootFields, "select fewer, or send several operations"}).check(); fault != nil {
			return fault
		}
		names, squares := root.count()
		if fault := (bound{"selects %d fields of one object", names, m.bounds.Aliases, "select fewer, or send several operations"}).check(); fault != nil {
			return fault
		}
		repeats += squares
	}
	return bound{"selects fields again and again: how often each is selected, squared, adds up to %d", repeats, m.bounds.Repeats, "select it once where it is needed"}.check()
}

func (m *measure) place(at *place, set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			if at.below == nil {
				at.below = map[string]*place{}
			}
			next := at.below[selection.Alias]
			if next == nil {
				next = &place{}
				at.below[selection.Alias] = next
			}
			next.selected++
			m.place(next, selection.SelectionSet)
		case *ast.InlineFragment:
			m.place(at, selection.SelectionSet)
		case *ast.FragmentSpread:
			if definition := m.defined[selection.Name]; definition != nil {
				m.place(at, definition.SelectionSet)
			}
		}
	}
}

// count is the most names in one place, and the sum of squares of how often
// the repeated ones are selected.
func (p *place) count() (names, squares int) {
	names = len(p.below)
	for _, below := range p.below {
		if below.selected > 1 {
			squares += below.selected * below.selected
		}
		n, s := below.count()
		names, squares = max(names, n), squares+s
	}
	return names, squares
}
