// Package audience shows of the schema what a token may use: the root fields that its scopes allow, and the types that they
// lead to. Schemas makes and caches a View for each set of scopes, and Handler serves its text. It must not import resolvers
// or the executor.
package audience

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"portico/store/access"
)

// maxViews is how many views are cached. There are 2 to the number of scopes of them, and a shop uses a few.
const maxViews = 32

// Schemas are the schema by audience. It is safe for concurrent use.
//
// The cache is keyed by the set of known scopes and holds nothing of a user. Nothing invalidates it, because the schema does
// not change while the server runs. It holds at most maxViews views, each of about 200 kB with its text.
type Schemas struct {
	full *ast.Schema

	mu    sync.Mutex
	views map[uint64]*View
	order []uint64 // the least recently used first
}

// New returns the schema by audience.
func New(full *ast.Schema) *Schemas { return &Schemas{full: full, views: map[uint64]*View{}} }

// View is the part of the schema that a set of scopes may use. It is shared and must not be changed.
type View struct {
	Schema *ast.Schema

	once      sync.Once
	text, tag string
}

// Full returns the whole schema.
func (s *Schemas) Full() *ast.Schema { return s.full }

// For returns the view of a token with scopes. Unknown scopes allow nothing.
func (s *Schemas) For(scopes []string) *View {
	var key uint64
	known := access.Scopes()
	for i, scope := range known {
		if slices.Contains(scopes, scope) {
			key |= 1 << i
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock() // one view at a time, however many are requested
	if view := s.views[key]; view != nil {
		i := slices.Index(s.order, key)
		s.order = append(slices.Delete(s.order, i, i+1), key)
		return view
	}
	if len(s.order) == maxViews {
		delete(s.views, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
	view := &View{Schema: filter(s.full, scopes)}
	s.views[key], s.order = view, append(s.order, key)
	return view
}

// Text returns the view in the schema definition language, in the order of the whole schema.
func (v *View) Text() string {
	v.once.Do(v.print)
	return v.text
}

// ETag returns the entity tag of Text.
func (v *View) ETag() string {
	v.once.Do(v.print)
	return v.tag
}

func (v *View) print() {
	document := &ast.SchemaDocument{Schema: ast.SchemaDefinitionList{{Description: v.Schema.Description}}}
	for _, root := range []struct {
		operation ast.Operation
		of        *ast.Definition
	}{{ast.Query, v.Schema.Query}, {ast.Mutation, v.Schema.Mutation}, {ast.Subscription, v.Schema.Subscription}} {
		if root.of != nil {
			document.Schema[0].OperationTypes = append(document.Schema[0].OperationTypes,
				&ast.OperationTypeDefinition{Operation: root.operation, Type: root.of.Name})
		}
	}
	for _, definition := range v.Schema.Types {
		if !definition.BuiltIn {
			document.Definitions = append(document.Definitions, definition)
		}
	}
	slices.SortFunc(document.Definitions, func(a, b *ast.Definition) int { return a.Position.Start - b.Position.Start })
	var text strings.Builder
	formatter.NewFormatter(&text, formatter.WithIndent("  ")).FormatSchemaDocument(document)
	v.text = text.String()
	v.tag = entityTag(v.text)
}

func entityTag(text string) string {
	sum := sha256.Sum256([]byte(text))
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}
