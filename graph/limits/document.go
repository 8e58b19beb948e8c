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
	l := &documentLimits{config: config, document: document,
		defined: make(map[string]*ast.FragmentDefinition, len(document.Fragments)), fragments: map[string]*selectionSize{}}
	if err := l.checkCounts(); err != nil {
		return err
	}
	for _, fragment := range document.Fragments {
		if l.defined[fragment.Name] == nil {
			l.defined[fragment.Name] = fragment
		}
	}
	for _, check := range []func() *gqlerror.Error{l.checkSizes, l.checkSteps, l.checkResponseFields} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkCounts checks what can be counted without following fragments.
func (l *documentLimits) checkCounts() *gqlerror.Error {
	c := documentCounts{}
	for _, operation := range l.document.Operations {
		c.variables += len(operation.VariableDefinitions)
		c.name(operation.Name)
		for _, variable := range operation.VariableDefinitions {
			c.name(variable.Variable)
			c.typeName(variable.Type)
			c.value(variable.DefaultValue)
			c.directiveList(variable.Directives)
		}
		c.directiveList(operation.Directives)
		c.selections(operation.SelectionSet)
	}
	for _, fragment := range l.document.Fragments {
		c.name(fragment.Name)
		c.name(fragment.TypeCondition)
		c.directiveList(fragment.Directives)
		c.selections(fragment.SelectionSet)
	}
	return checkAll(
		limitCheck{"defines %d operations", len(l.document.Operations), l.config.Operations, "send only the one to run"},
		limitCheck{"defines %d fragments", len(l.document.Fragments), l.config.Fragments, "send only those that the operation uses, or several operations"},
		limitCheck{"defines %d variables", c.variables, l.config.Variables, "combine them in lists and inputs"},
		limitCheck{"has %d directives", c.directives, l.config.Directives, "select less, or send several operations"},
		limitCheck{"has a name of %d bytes", c.longestName, l.config.Name, "use a shorter one"},
	)
}

// documentCounts has counts of a document's text.
type documentCounts struct{ variables, directives, longestName int }

func (c *documentCounts) name(name string) { c.longestName = max(c.longestName, len(name)) }

func (c *documentCounts) typeName(of *ast.Type) {
	if of != nil {
		c.name(of.Name())
	}
}

func (c *documentCounts) directiveList(list ast.DirectiveList) {
	c.directives += len(list)
	for _, directive := range list {
		c.name(directive.Name)
		c.arguments(directive.Arguments)
	}
}

func (c *documentCounts) arguments(list ast.ArgumentList) {
	for _, argument := range list {
		c.name(argument.Name)
		c.value(argument.Value)
	}
}

func (c *documentCounts) value(value *ast.Value) {
	if value == nil {
		return
	}
	if value.Kind == ast.EnumValue || value.Kind == ast.Variable {
		c.name(value.Raw)
	}
	for _, child := range value.Children {
		c.name(child.Name)
		c.value(child.Value)
	}
}

func (c *documentCounts) selections(set ast.SelectionSet) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			c.name(selection.Name)
			c.name(selection.Alias)
			c.arguments(selection.Arguments)
			c.directiveList(selection.Directives)
			c.selections(selection.SelectionSet)
		case *ast.InlineFragment:
			c.name(selection.TypeCondition)
			c.directiveList(selection.Directives)
			c.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			c.name(selection.Name)
			c.directiveList(selection.Directives)
		}
	}
}

// selectionSize is the size of a selection set, with that of a fragment at each spread.
type selectionSize struct {
	depth, fields int
	open          bool // a fragment that is being measured, to detect circles
}

func (s *selectionSize) add(o selectionSize) {
	s.depth = max(s.depth, o.depth)
	s.fields = min(maxSum, s.fields+o.fields)
}

func (s selectionSize) check(config Config) *gqlerror.Error {
	return checkAll(
		limitCheck{"nests fields %d deep", s.depth, config.Depth, "nest less"},
		limitCheck{"selects %d fields", s.fields, config.Fields, "select fewer, or send several operations"},
	)
}

// checkSizes checks depth and fields of all operations and fragments.
func (l *documentLimits) checkSizes() *gqlerror.Error {
	var all selectionSize
	for _, operation := range l.document.Operations {
		all.add(l.size(operation.SelectionSet))
	}
	for _, fragment := range l.document.Fragments {
		if err := l.fragmentSize(fragment.Name).check(l.config); err != nil {
			return err
		}
	}
	return all.check(l.config)
}

// size measures a selection set.
func (l *documentLimits) size(set ast.SelectionSet) (total selectionSize) {
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			below := l.size(selection.SelectionSet)
			total.add(selectionSize{depth: below.depth + 1, fields: below.fields + 1})
		case *ast.InlineFragment:
			total.add(l.size(selection.SelectionSet))
		case *ast.FragmentSpread:
			total.add(l.fragmentSize(selection.Name))
		}
	}
	return total
}

// fragmentSize returns the size of a fragment, which it measures once. It sets circular for a fragment that spreads itself, which
// validation reports.
func (l *documentLimits) fragmentSize(name string) selectionSize {
	if known := l.fragments[name]; known != nil {
		l.circular = l.circular || known.open
		return *known
	}
	known := &selectionSize{open: true}
	l.fragments[name] = known
	if definition := l.defined[name]; definition != nil {
		*known = l.size(definition.SelectionSet)
	}
	known.open = false
	return *known
}

// checkSteps checks how much validation reads. Validation walks each operation and each fragment with all
// fragments that they reach: n fragments in a chain are n²/2 steps.
func (l *documentLimits) checkSteps() *gqlerror.Error {
	own := make(map[string]*readSteps, len(l.defined))
	for name, fragment := range l.defined {
		own[name] = &readSteps{}
		own[name].selections(fragment.SelectionSet)
	}
	total, walk := 0, 0
	var reach func(of *readSteps)
	reach = func(of *readSteps) {
		total += of.steps
		for _, name := range of.spreads {
			if next := own[name]; next != nil && next.walk != walk && total <= l.config.Steps {
				next.walk = walk
				reach(next)
			}
		}
	}
	for _, operation := range l.document.Operations {
		from := &readSteps{}
		from.selections(operation.SelectionSet)
		walk++
		reach(from)
	}
	for _, fragment := range l.document.Fragments {
		from := &readSteps{}
		from.selections(fragment.SelectionSet)
		walk++
		reach(from)
	}
	return limitCheck{"is read in %d steps or more, by fragments that spread fragments", total, l.config.Steps, "spread fewer, or send several operations"}.check()
}

// readSteps counts what validation reads of a selection set, without its fragments.
type readSteps struct {
	steps   int
	spreads []string // names of fragments
	walk    int      // that reached it last
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
func (l *documentLimits) checkResponseFields() *gqlerror.Error {
	if l.circular {
		return nil // validation reports it
	}
	repeats := 0
	for _, operation := range l.document.Operations {
		var root responseField
		l.addFields(&root, operation.SelectionSet)
		if err := (limitCheck{"selects %d fields at its root", len(root.subfields), l.config.RootFields, "select fewer, or send several operations"}).check(); err != nil {
			return err
		}
		names, squares := root.count()
		if err := (limitCheck{"selects %d fields of one object", names, l.config.Aliases, "select fewer, or send several operations"}).check(); err != nil {
			return err
		}
		repeats += squares
	}
	return limitCheck{"selects the same fields repeatedly: the sum of the squares of how often each is selected is %d", repeats, l.config.Repeats, "select each field once"}.check()
}

// addFields adds the fields of a selection set, and of the fragments that it spreads, below at.
func (l *documentLimits) addFields(at *responseField, set ast.SelectionSet) {
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
			l.addFields(next, selection.SelectionSet)
		case *ast.InlineFragment:
			l.addFields(at, selection.SelectionSet)
		case *ast.FragmentSpread:
			if definition := l.defined[selection.Name]; definition != nil {
				l.addFields(at, definition.SelectionSet)
			}
		}
	}
}

// count returns the largest number of fields in one object, and the sum of the squares of how often
// repeated fields are selected.
func (f *responseField) count() (names, squares int) {
	names = len(f.subfields)
	for _, below := range f.subfields {
		if below.selected > 1 {
			squares += below.selected * below.selected
		}
		n, s := below.count()
		names, squares = max(names, n), squares+s
	}
	return names, squares
}
