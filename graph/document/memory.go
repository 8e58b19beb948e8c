package document

import (
	"unsafe"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"

	"portico/internal/heapsize"
)

// documentMemory returns the memory of a parsed document in bytes, without its text and the schema.
func documentMemory(text string, document *ast.QueryDocument) int {
	s := memorySize{text: text}
	s.node(unsafe.Sizeof(*document), document.Position, document.Comment)
	s.node(unsafe.Sizeof(ast.Source{}), nil, nil)
	s.slice(cap(document.Operations))
	for _, operation := range document.Operations {
		s.node(unsafe.Sizeof(*operation), operation.Position, operation.Comment)
		s.string(operation.Description)
		s.variables(operation.VariableDefinitions)
		s.directives(operation.Directives)
		s.selections(operation.SelectionSet)
	}
	s.slice(cap(document.Fragments))
	for _, fragment := range document.Fragments {
		s.node(unsafe.Sizeof(*fragment), fragment.Position, fragment.Comment)
		s.string(fragment.Description)
		s.variables(fragment.VariableDefinition)
		s.directives(fragment.Directives)
		s.selections(fragment.SelectionSet)
	}
	return s.bytes
}

// memorySize adds up the memory of a document's nodes. Each method adds that of its argument and of all below it.
type memorySize struct {
	text  string // of the document, which strings may share
	bytes int
}

// node adds a node. A position keeps the parser's whole token alive.
func (s *memorySize) node(size uintptr, position *ast.Position, comment *ast.CommentGroup) {
	s.bytes += heapsize.Round(int(size))
	if position != nil {
		s.bytes += heapsize.Round(int(unsafe.Sizeof(lexer.Token{})))
	}
	if comment != nil {
		s.node(unsafe.Sizeof(*comment), nil, nil)
		s.slice(cap(comment.List))
		for _, line := range comment.List {
			s.node(unsafe.Sizeof(*line), line.Position, nil)
		}
	}
}

// slice adds an array of pointers.
func (s *memorySize) slice(capacity int) { s.bytes += heapsize.Slice(capacity, 8) }

// string adds a string, unless it shares the memory of the text: strings without escape sequences do.
func (s *memorySize) string(value string) {
	at, text := uintptr(unsafe.Pointer(unsafe.StringData(value))), uintptr(unsafe.Pointer(unsafe.StringData(s.text)))
	if at < text || at >= text+uintptr(len(s.text)) {
		s.bytes += heapsize.Round(len(value))
	}
}

func (s *memorySize) variables(list ast.VariableDefinitionList) {
	s.slice(cap(list))
	for _, variable := range list {
		s.node(unsafe.Sizeof(*variable), variable.Position, variable.Comment)
		s.string(variable.Description)
		for of := variable.Type; of != nil; of = of.Elem {
			s.node(unsafe.Sizeof(*of), of.Position, nil)
		}
		s.value(variable.DefaultValue)
		s.directives(variable.Directives)
	}
}

func (s *memorySize) directives(list ast.DirectiveList) {
	s.slice(cap(list))
	for _, directive := range list {
		s.node(unsafe.Sizeof(*directive), directive.Position, nil)
		s.arguments(directive.Arguments)
	}
}

func (s *memorySize) arguments(list ast.ArgumentList) {
	s.slice(cap(list))
	for _, argument := range list {
		s.node(unsafe.Sizeof(*argument), argument.Position, argument.Comment)
		s.value(argument.Value)
	}
}

func (s *memorySize) value(value *ast.Value) {
	if value == nil {
		return
	}
	s.node(unsafe.Sizeof(*value), value.Position, value.Comment)
	s.string(value.Raw)
	s.slice(cap(value.Children))
	for _, child := range value.Children {
		s.node(unsafe.Sizeof(*child), child.Position, child.Comment)
		s.value(child.Value)
	}
}

func (s *memorySize) selections(set ast.SelectionSet) {
	s.bytes += heapsize.Slice(cap(set), int(unsafe.Sizeof(set[0])))
	for _, selection := range set {
		switch selection := selection.(type) {
		case *ast.Field:
			s.node(unsafe.Sizeof(*selection), selection.Position, selection.Comment)
			s.arguments(selection.Arguments)
			s.directives(selection.Directives)
			s.selections(selection.SelectionSet)
		case *ast.InlineFragment:
			s.node(unsafe.Sizeof(*selection), selection.Position, selection.Comment)
			s.directives(selection.Directives)
			s.selections(selection.SelectionSet)
		case *ast.FragmentSpread:
			s.node(unsafe.Sizeof(*selection), selection.Position, selection.Comment)
			s.directives(selection.Directives)
		}
	}
}
