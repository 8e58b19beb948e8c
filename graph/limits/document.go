package limits

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

const maxSum = 1 << 40 // sums and products stop here, before they overflow

// documentLimits walks a document before it is validated: it knows no type, and the
// document may be wrong in every way.
type documentLimits struct {
	bounds    Bounds
	document  *ast.QueryDocument
	defined   map[string]*ast.FragmentDefinition // the first of each name, as for validation
	fragments map[string]*selectionSize
	circular  bool
}

// CheckDocument refuses a document that would cost too much to validate.
func CheckDocument(document *ast.QueryDocument, bounds Bounds) *gqlerror.Error {
	m := &documentLimits{bounds: bounds, document: document,
		defined: make(map[string]*ast.FragmentDefinition, len(document.Fragments)), fragments: map[string]*selectionSize{}}
	if fault := m.checkCounts(); fault != nil {
		return fault
	}
	for _, fragment := range document.Fragments {
		if m.defined[fragment.Name] == nil {
			m.defined[fragment.Name] = fragment
		}
	}
	for _, hold := range []func() *gqlerror.Error{m.checkSizes, m.checkSteps, m.checkResponseFields} {
		if fault := hold(); fault != nil {
			return fault
		}
	}
	return nil
}

// checkCounts holds what can be counted without following fragments.
func (m *documentLimits) checkCounts() *gqlerror.Error {
	p := documentCounts{}
	for _, operation := range m.document.Operations {
		p.variables += len(operation.VariableDefinitions)
		p.name(operation.Name)
		for _, variable := range operation.VariableDefinitions {
			p.name(variable.Variable)
			p.typeName(variable.Type)
			p.value(variable.DefaultValue)
			p.directiveList(variable.Directives)
		}
		p.directiveList(operation.Directives)
		p.selections(operation.SelectionSet)
	}
	for _, fragment := range m.document.Fragments {
		p.name(fragment.Name)
		p.name(fragment.TypeCondition)
		p.directiveList(fragment.Directives)
		p.selections(fragment.SelectionSet)
	}
	return checkAll(
		limit{"defines %d operations", len(m.document.Operations), m.bounds.Operations, "send the one that is to run"},
		limit{"defines %d fragments", len(m.document.Fragments), m.bounds.Fragments, "send those that the operation spreads, or several operations"},
		limit{"defines %d variables", p.variables, m.bounds.Variables, "gather them in lists and inputs"},
		limit{"holds %d directives", p.directives, m.bounds.Directives, "select less, or send several operations"},
		limit{"holds a name of %d bytes", p.longestName, m.bounds.Name, "take a shorter one"},
	)
}

// documentCounts are counts of a document as it is written.
type documentCounts struct{ variables, directives, longestName int }

func (p *documentCounts) name(name string) { p.longestName = max(p.longestName, len(name)) }

func (p *documentCounts) typeName(of *ast.Type) {
	if of != nil {
		p.name(of.Name())
	}
}

func (p *documentCounts) directiveList(list ast.DirectiveList) {
	p.directives += len(list)
	for _, directive := range list {
		p.name(directive.Name)
		p.arguments(directive.Arguments)
	}
}

func (p *documentCounts) arguments(list ast.ArgumentList) {
	for _, argument := range list {
		p.name(argument.Name)
		p.value(argument.Value)
	}
}

func (p *documentCounts) value(value *ast.Value) {
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

func (p *documentCounts) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			p.name(selection.Name)
			p.name(selection.Alias)
			p.arguments(selection.Arguments)
			p.directiveList(selection.Directives)
			p.selections(selection.SelectionSet)
		case *ast.InlineFragment:
			p.name(selection.TypeCondition)
			p.directiveList(selection.Directives)
			p.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			p.name(selection.Name)
			p.directiveList(selection.Directives)
		}
	}
}

// selectionSize is what a selection set comes to, each fragment counted wherever it
// is spread.
type selectionSize struct {
	depth, fields int
	open          bool // it is being measured
}

func (e *selectionSize) add(o selectionSize) {
	e.depth = max(e.depth, o.depth)
	e.fields = min(maxSum, e.fields+o.fields)
}

func (e selectionSize) check(bounds Bounds) *gqlerror.Error {
	return checkAll(
		limit{"nests fields %d deep", e.depth, bounds.Depth, "nest less"},
		limit{"selects %d fields", e.fields, bounds.Fields, "select fewer, or send several operations"},
	)
}

// checkSizes holds depth and fields of whatever validation reads, used or not.
func (m *documentLimits) checkSizes() *gqlerror.Error {
	var all selectionSize
	for _, operation := range m.document.Operations {
		all.add(m.size(operation.SelectionSet))
	}
	for _, fragment := range m.document.Fragments {
		if fault := m.fragmentSize(fragment.Name).check(m.bounds); fault != nil {
			return fault
		}
	}
	return all.check(m.bounds)
}

func (m *documentLimits) size(set ast.SelectionSet) (total selectionSize) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			below := m.size(selection.SelectionSet)
			total.add(selectionSize{depth: below.depth + 1, fields: below.fields + 1})
		case *ast.InlineFragment:
			total.add(m.size(selection.SelectionSet))
		case *ast.FragmentSpread:
			total.add(m.fragmentSize(selection.Name))
		}
	}
	return total
}

// fragmentSize measures a fragment, once; one that spreads itself is left to
// validation.
func (m *documentLimits) fragmentSize(name string) selectionSize {
	if known := m.fragments[name]; known != nil {
		m.circular = m.circular || known.open
		return *known
	}
	known := &selectionSize{open: true}
	m.fragments[name] = known
	if definition := m.defined[name]; definition != nil {
		*known = m.size(definition.SelectionSet)
	}
	known.open = false
	return *known
}

// checkSteps holds what validation reads. It walks each operation and each
// fragment with all that they reach, each fragment once per walk: n fragments
// in a chain are walked n²/2 times.
func (m *documentLimits) checkSteps() *gqlerror.Error {
	own := make(map[string]*readSteps, len(m.defined))
	for name, fragment := range m.defined {
		own[name] = &readSteps{}
		own[name].selections(fragment.SelectionSet)
	}
	total := 0
	var reach func(seen map[string]bool, of *readSteps)
	reach = func(seen map[string]bool, of *readSteps) {
		total += of.steps
		for _, name := range of.spreads {
			if next := own[name]; next != nil && !seen[name] && total <= m.bounds.Steps {
				seen[name] = true
				reach(seen, next)
			}
		}
	}
	for _, operation := range m.document.Operations {
		from := &readSteps{}
		from.selections(operation.SelectionSet)
		reach(map[string]bool{}, from)
	}
	for _, fragment := range m.document.Fragments {
		from := &readSteps{}
		from.selections(fragment.SelectionSet)
		reach(map[string]bool{}, from)
	}
	return limit{"is read in %d steps or more, by fragments that spread fragments", total, m.bounds.Steps, "spread fewer, or send several operations"}.check()
}

// readSteps is what validation reads of a selection set itself.
type readSteps struct {
	steps   int
	spreads []string
}

func (s *readSteps) selections(set ast.SelectionSet) {
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

func (s *readSteps) directives(list ast.DirectiveList) {
	for _, directive := range list {
		s.steps++
		s.arguments(directive.Arguments)
	}
}

func (s *readSteps) arguments(list ast.ArgumentList) {
	for _, argument := range list {
		s.value(argument.Value)
	}
}

func (s *readSteps) value(value *ast.Value) {
	s.steps++
	for _, child := range value.Children {
		s.value(child.Value)
	}
}

// responseField is a field of the answer, or the answer itself: the selections of one
// name in one place are merged, and compared for that.
type responseField struct {
	selected  int
	subfields map[string]*responseField
}

// checkResponseFields holds how many fields one place of the answer has, and how often
// each of them is selected.
func (m *documentLimits) checkResponseFields() *gqlerror.Error {
	if m.circular {
		return nil // validation will say so
	}
	repeats := 0
	for _, operation := range m.document.Operations {
		var root responseField
		m.addFields(&root, operation.SelectionSet)
		if fault := (limit{"selects %d fields at its root", len(root.subfields), m.bounds.RootFields, "select fewer, or send several operations"}).check(); fault != nil {
			return fault
		}
		names, squares := root.count()
		if fault := (limit{"selects %d fields of one object", names, m.bounds.Aliases, "select fewer, or send several operations"}).check(); fault != nil {
			return fault
		}
		repeats += squares
	}
	return limit{"selects fields again and again: how often each is selected, squared, adds up to %d", repeats, m.bounds.Repeats, "select it once where it is needed"}.check()
}

func (m *documentLimits) addFields(at *responseField, set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			if at.subfields == nil {
				at.subfields = map[string]*responseField{}
			}
			next := at.subfields[selection.Alias]
			if next == nil {
				next = &responseField{}
				at.subfields[selection.Alias] = next
			}
			next.selected++
			m.addFields(next, selection.SelectionSet)
		case *ast.InlineFragment:
			m.addFields(at, selection.SelectionSet)
		case *ast.FragmentSpread:
			if definition := m.defined[selection.Name]; definition != nil {
				m.addFields(at, definition.SelectionSet)
			}
		}
	}
}

// count is the most names in one place, and the sum of squares of how often
// the repeated ones are selected.
func (p *responseField) count() (names, squares int) {
	names = len(p.subfields)
	for _, below := range p.subfields {
		if below.selected > 1 {
			squares += below.selected * below.selected
		}
		n, s := below.count()
		names, squares = max(names, n), squares+s
	}
	return names, squares
}
