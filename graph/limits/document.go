package limits

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

const maxSum = 1 << 40 // larger sums and products are cut, so that they do not overflow

// documentLimits measures a document before it is validated, so it may be invalid in every way.
type documentLimits struct {
	config    Config
	document  *ast.QueryDocument
	defined   map[string]*ast.FragmentDefinition // the first of each name, as for validation
	fragments map[string]*selectionSize          // of those measured, by name
	circular  bool                               // a fragment spreads itself, at any depth
}

// CheckDocument returns an error for a document that would cost too much to validate. checkSizes comes
// before checkResponseFields, which follows every spread: it limits the fields and finds circles.
func CheckDocument(document *ast.QueryDocument, config Config) *gqlerror.Error {
	m := &documentLimits{config: config, document: document,
		defined: make(map[string]*ast.FragmentDefinition, len(document.Fragments)), fragments: map[string]*selectionSize{}}
	if err := m.checkCounts(); err != nil {
		return err
	}
	for _, fragment := range document.Fragments {
		if m.defined[fragment.Name] == nil {
			m.defined[fragment.Name] = fragment
		}
	}
	for _, check := range []func() *gqlerror.Error{m.checkSizes, m.checkSteps, m.checkResponseFields} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkCounts checks what can be counted without following fragments.
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
		limitCheck{"defines %d operations", len(m.document.Operations), m.config.Operations, "send only the one to run"},
		limitCheck{"defines %d fragments", len(m.document.Fragments), m.config.Fragments, "send only those that the operation uses, or several operations"},
		limitCheck{"defines %d variables", p.variables, m.config.Variables, "combine them in lists and inputs"},
		limitCheck{"has %d directives", p.directives, m.config.Directives, "select less, or send several operations"},
		limitCheck{"has a name of %d bytes", p.longestName, m.config.Name, "use a shorter one"},
	)
}

// documentCounts has counts of a document's text.
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

// selectionSize is the size of a selection set, with that of a fragment at each spread.
type selectionSize struct {
	depth, fields int
	open          bool // a fragment that is being measured, to detect circles
}

func (e *selectionSize) add(o selectionSize) {
	e.depth = max(e.depth, o.depth)
	e.fields = min(maxSum, e.fields+o.fields)
}

func (e selectionSize) check(config Config) *gqlerror.Error {
	return checkAll(
		limitCheck{"nests fields %d deep", e.depth, config.Depth, "nest less"},
		limitCheck{"selects %d fields", e.fields, config.Fields, "select fewer, or send several operations"},
	)
}

// checkSizes checks depth and fields of all operations and fragments.
func (m *documentLimits) checkSizes() *gqlerror.Error {
	var all selectionSize
	for _, operation := range m.document.Operations {
		all.add(m.size(operation.SelectionSet))
	}
	for _, fragment := range m.document.Fragments {
		if err := m.fragmentSize(fragment.Name).check(m.config); err != nil {
			return err
		}
	}
	return all.check(m.config)
}

// size measures a selection set.
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

// fragmentSize returns the size of a fragment, which it measures once. It sets circular for a fragment that spreads itself, which
// validation reports.
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

// checkSteps checks how much validation reads. Validation walks each operation and each fragment with all
// fragments that they reach: n fragments in a chain are n²/2 steps.
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
			if next := own[name]; next != nil && !seen[name] && total <= m.config.Steps {
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
	return limitCheck{"is read in %d steps or more, by fragments that spread fragments", total, m.config.Steps, "spread fewer, or send several operations"}.check()
}

// readSteps counts what validation reads of a selection set, without its fragments.
type readSteps struct {
	steps   int
	spreads []string // names of fragments
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

// responseField is a field of the response, or the response. Validation compares all selections of a
// field with each other.
type responseField struct {
	selected  int                       // how often
	subfields map[string]*responseField // by response name
}

// checkResponseFields checks how many fields an object of the response has, and how often each is
// selected.
func (m *documentLimits) checkResponseFields() *gqlerror.Error {
	if m.circular {
		return nil // validation reports it
	}
	repeats := 0
	for _, operation := range m.document.Operations {
		var root responseField
		m.addFields(&root, operation.SelectionSet)
		if err := (limitCheck{"selects %d fields at its root", len(root.subfields), m.config.RootFields, "select fewer, or send several operations"}).check(); err != nil {
			return err
		}
		names, squares := root.count()
		if err := (limitCheck{"selects %d fields of one object", names, m.config.Aliases, "select fewer, or send several operations"}).check(); err != nil {
			return err
		}
		repeats += squares
	}
	return limitCheck{"selects the same fields repeatedly: the sum of the squares of how often each is selected is %d", repeats, m.config.Repeats, "select each field once"}.check()
}

// addFields adds the fields of a selection set, and of the fragments that it spreads, below at.
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

// count returns the largest number of fields in one object, and the sum of the squares of how often
// repeated fields are selected.
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
