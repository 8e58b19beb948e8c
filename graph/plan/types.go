package plan

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Object is an object type of the schema.
type Object struct {
	Name      string
	Satisfies []string              // the conditions of fragments that it meets: its own name and its interfaces'
	Fields    map[string]*FieldInfo // by name
}

// FieldInfo is what plans know of a field definition.
type FieldInfo struct {
	Number        int  // tells the fields of an object type apart; 0 is __typename
	NonNull       bool // a null in it makes its object null
	Dynamic       bool // it changes while all that surrounds it stays the same
	Resolver      bool // it is more than what its row holds: resolving it may fail, or cost
	External      bool // it does not follow from what its row shows of itself
	Cached        bool // though apart, it is kept in fragments of its row, with what they show below it
	Introspection bool // it is __schema or __type, which gqlgen's own code answers
}

// Plan is a compiled query, for one set of values of the variables in @skip and
// @include. It refers to the document. It is safe for concurrent use. The selection on
// an object type is compiled when the first object of that type is written.
type Plan struct {
	root       Selection
	roots      []string
	conditions map[string]bool
	runner     *Runner
	size       atomic.Int64

	mu       sync.Mutex
	seed     maphash.Seed
	compiled map[uint64]*Fields // by the object type and the fields of the document that they merge; linked
	fields   []*Field           // by their ordinals
}

// Selection is the selection set of a field, for all object types that its value may
// have.
type Selection struct {
	plan     *Plan
	set      ast.SelectionSet
	compiled atomic.Pointer[compiledFields]
}

// compiledFields are the fields selected on one object type.
type compiledFields struct {
	object *Object
	fields *Fields
	next   *compiledFields
}

// Fields are the fields selected on an object type, in response order.
type Fields struct {
	List      []Field
	object    *Object
	selected  []*ast.Field // of the document, in its order
	next      *Fields      // with the same hash
	id        uint64       // which no others have, in any plan of the runner
	cacheable int          // how much of it fragments hold
	edges     []string     // that they hold
}

// Field is a selected field.
type Field struct {
	Number int // which of its type's it is
	Selection

	info      *FieldInfo
	key       []byte // what stands before its value: `{"name":` or `,"name":`
	collected graphql.CollectedField
	ordinal   int32                          // in the plan
	cached    bool                           // fragments of its row hold it
	constant  bool                           // its arguments hold no variables
	arguments atomic.Pointer[map[string]any] // read already, where they are constant
}

// Run is one run of a plan: the response written so far, and the current path. Generated
// code embeds it.
type Run struct {
	out        []byte
	path       []pathElement
	pathBuffer [24]pathElement           // where places begins
	arguments  map[*Field]map[string]any // that variables went into
	variables  map[string]any
	holes      *Holes // nil where live fields are written like all others
	errorCount int    // errors told so far, by this run itself
	runner     *Runner

	ctx      context.Context // of the run, for Limit.Reserve
	capacity int             // the answer may have this many bytes before extend is called
	reserved bool            // Limit.Reserve was called
}

// pathElement is a field, or an element of its list.
type pathElement struct {
	field *Field
	index int // -1 for the field itself
}

// Runner runs plans. There is a generated one for each schema.
type Runner struct {
	query   *Object
	objects map[string]*Object // by name
	root    func(context.Context, *Run, *Fields) bool
	field   func(context.Context, *Run, *Field, any) bool
	cache   ObjectCache   // nil where none are kept
	limit   Limit         // of every run
	ids     atomic.Uint64 // of all plans
}

// Limit limits the memory of responses. A run that exceeds it stops within one scalar or
// cached object.
type Limit struct {
	Bytes int // of an answer; 0 is any number

	// An answer that is to grow beyond Large bytes calls Reserve first, once. An
	// error of it stops the run. Reserve may be nil.
	Large   int
	Reserve func(context.Context) error

	// Buffer returns an empty buffer for an answer of more than Large bytes; the
	// answer has it as long as it is enough. It may be nil.
	Buffer func() []byte
}

// ObjectCache stores the JSON of rows for later runs. The key has everything that a
// row's own fields depend on, so entries are never stale. Fields that depend on more are
// left out, and each run writes them again.
type ObjectCache interface {
	// Identity names all that a row's own fields follow from, and what is found
	// at some edges, each named once or more; false where it is not known.
	Identity(ctx context.Context, row any, edges []string) (identity Identity, known bool)

	// Charge accounts for an edge that is not followed, as it is in the fragment;
	// false where it must not be given.
	Charge(ctx context.Context, row any, edge string) bool

	// Get returns a fragment that was kept; nil for none.
	Get(step uint64, of Identity) *CachedObject

	// Put keeps a fragment for as long as there is room.
	Put(step uint64, of Identity, made *CachedObject)
}

// Identity is a hash of a row's content.
type Identity [16]byte

// CachedObject is the JSON of an object for one set of selected fields, with gaps for
// fields that do not follow from the row's Identity. It is immutable, and shared by
// runs.
type CachedObject struct {
	body []byte
	gaps []gapSpan
}

// gapSpan is the position of a field that is left out or must be charged for.
type gapSpan struct{ at, end, field int }

// Holes are the dynamic fields of a cached response, which are written each time the
// response is used, and those whose parent became null, which run again for their own
// errors. A response with such is not cached.
type Holes struct{ list, nulled []holeSpan }

// holeSpan is the position of a dynamic field. It has no pointer to the plan, which the
// response may outlive.
type holeSpan struct {
	at   int // in the answer
	path []pathStep
	row  any
}

// pathStep is an element of a path: a field by its ordinal in the plan, or -1 for a list
// element.
type pathStep struct{ field, index int32 }
