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
	Satisfies []string              // type conditions of fragments that apply: its name and its interfaces
	Fields    map[string]*FieldInfo // by name
}

// FieldInfo describes a field of the schema.
type FieldInfo struct {
	Number        int  // unique in the object type; 0 is __typename
	NonNull       bool // a null makes the object null
	Dynamic       bool // changes independently of the release, such as stock
	Resolver      bool // has a resolver, which may fail or cost
	Introspection bool // __schema or __type, which gqlgen's code writes
}

// Plan is a compiled query, for one set of values of the variables in @skip and
// @include. It refers to the document. It is safe for concurrent use. The selection on
// an object type is compiled when the first object of that type is written.
type Plan struct {
	root       Selection       // of the query type
	roots      []string        // names of the root fields
	conditions map[string]bool // values of ConditionVariables
	runner     *Runner
	size       atomic.Int64 // bytes of memory

	mu       sync.Mutex
	seed     maphash.Seed       // of the hashes in compiled
	compiled map[uint64]*Fields // by a hash of object type and fields; entries with the same hash are linked
	fields   []*Field           // by ordinal
}

// Selection is the selection set of a field, for all object types that its value may
// have.
type Selection struct {
	plan     *Plan
	set      ast.SelectionSet
	compiled atomic.Pointer[compiledFields] // list of those compiled so far
}

// compiledFields are the fields selected on one object type.
type compiledFields struct {
	object *Object
	fields *Fields
	next   *compiledFields // of another type; nil for none
}

// Fields are the fields selected on an object type, in response order.
type Fields struct {
	List     []Field
	object   *Object
	selected []*ast.Field // in document order
	next     *Fields      // with the same hash
}

// Field is a selected field.
type Field struct {
	Number int // FieldInfo.Number
	Selection

	info      *FieldInfo
	key       []byte // the bytes before the value: `{"name":` or `,"name":`
	collected graphql.CollectedField
	ordinal   int32                          // in the plan
	constant  bool                           // no variables in its arguments
	arguments atomic.Pointer[map[string]any] // decoded, if constant
}

// Run is one run of a plan: the response written so far, and the current path. Generated
// code embeds it.
type Run struct {
	out        []byte
	path       []pathElement
	pathBuffer [24]pathElement           // avoids allocating path
	arguments  map[*Field]map[string]any // decoded, if not constant
	variables  map[string]any
	holes      *Holes // nil if dynamic fields are written too
	runner     *Runner

	ctx      context.Context // of the run, for Limit.Reserve
	capacity int             // bytes of the response at which extend is called
	reserved bool            // Limit.Reserve was called
	group    *rootGroup      // of the runs beside this one; nil for none
	claimed  int             // bytes that the group counts for this run
}

// rootGroup runs root fields side by side.
type rootGroup struct {
	fields  []Field
	roots   []rootField
	write   WriteRootField
	stopped atomic.Bool // a run was stopped: the fields run again in order

	mu     sync.Mutex
	bytes  int // of the responses of all runs
	reason any // of a panic other than a *Stopped; nil for none
}

// rootField is the state of one root field.
type rootField struct {
	claimed atomic.Bool   // by the goroutine that runs it
	run     *Run          // nil if it was written to the response directly
	written bool          // false for null
	done    chan struct{} // closed when run is complete

	mu     sync.Mutex
	errors []rootError // in order
}

// rootError is an error that is not yet in the response.
type rootError struct {
	field *graphql.FieldContext
	err   error
}

// WriteRootField writes a root field to a run. It returns false for null. It is generated.
type WriteRootField func(ctx context.Context, r *Run, f *Field) bool

// pathElement is a field, or an element of its list.
type pathElement struct {
	field *Field
	index int // -1 for the field itself
}

// Runner runs plans. There is a generated one for each schema.
type Runner struct {
	query *Object                                       // the query type
	root  func(context.Context, *Run, *Fields) bool     // writes the query type; false for null
	field func(context.Context, *Run, *Field, any) bool // writes a dynamic field of a row; false for null
	limit Limit                                         // of every run
}

// Limit limits the memory of responses. A run that exceeds it stops within one
// scalar.
type Limit struct {
	Bytes int // of a response; 0 for no limit

	// A run calls Reserve once, before its response grows beyond Large bytes. An error stops the
	// run. Reserve may be nil.
	Large   int
	Reserve func(context.Context) error

	// Buffer returns an empty buffer for a response of more than Large bytes. It may be nil.
	Buffer func() []byte

	Parallel int // root fields that are resolved at once; below 2, one after the other

	// Trial is called before root fields run side by side. end is called after them: it reports whether
	// the operation was refused something because of its cost, and then, or without keep, takes back what
	// they cost. If ok is false, the fields run one after the other. It may be nil.
	Trial func(context.Context) (end func(keep bool) (refused bool), ok bool)
}

// Holes are the dynamic fields of a cached response, which are written each time the
// response is used, and those whose parent became null, which run again for their own
// errors. A response with such is not cached.
type Holes struct{ list, nulled []holeSpan }

// holeSpan is the position of a dynamic field. It has no pointer to the plan, which the
// response may outlive.
type holeSpan struct {
	at   int // in the response
	path []pathStep
	row  any
}

// pathStep is an element of a path: a field by its ordinal in the plan, or -1 for a list
// element.
type pathStep struct{ field, index int32 }
