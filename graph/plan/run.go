package plan

import (
	"bytes"
	"context"
	"io"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"portico/internal/heapsize"
)

// Run is one run of a plan: the answer as far as it is written, and where in
// it the run is. Generated code embeds it.
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

// pathElement is a step from the root: a field, or an element of its list.
type pathElement struct {
	field *Field
	index int // -1 for the field itself
}

// Mark is a position in the answer.
func (r *Run) Mark() int { return len(r.out) }

// Begin writes the name of a field, whose value is next.
func (r *Run) Begin(f *Field) {
	r.path = append(r.path, pathElement{f, -1})
	r.grow(len(f.key) + smallLeaf)
	r.out = append(r.out, f.key...)
}

// End ends a field or an element, whose value was written, or was null.
func (r *Run) End() { r.path = r.path[:len(r.path)-1] }

// Null writes null in place of a field's value; false where that makes its
// object null.
func (r *Run) Null(f *Field) bool {
	r.out = append(r.out, "null"...)
	return !f.info.NonNull
}

// Close ends the object that began at a mark. An object with a null where
// there can be none is null itself: it leaves the answer, and its neighbours
// have all run, as their errors are to be told.
func (r *Run) Close(mark int, valid bool) bool {
	if !valid {
		r.truncate(mark)
		return false
	}
	if len(r.out) == mark {
		r.out = append(r.out, '{')
	}
	r.out = append(r.out, '}')
	return true
}

// truncate takes back what was written since a mark, and the holes in it.
func (r *Run) truncate(mark int) {
	r.out = r.out[:mark]
	if r.holes != nil {
		r.holes.nullAfter(mark)
	}
}

// Open begins a list.
func (r *Run) Open() (mark int) {
	mark = len(r.out)
	r.out = append(r.out, '[')
	return mark
}

// Element begins an element of the list.
func (r *Run) Element(i int) {
	r.grow(smallLeaf)
	if i > 0 {
		r.out = append(r.out, ',')
	}
	r.path = append(r.path, pathElement{nil, i})
}

// NullElement writes null in place of an element that can be null.
func (r *Run) NullElement() { r.out = append(r.out, "null"...) }

// CloseList ends the list that began at a mark; one with a null where there
// can be none is null itself.
func (r *Run) CloseList(mark int, valid bool) bool {
	if !valid {
		r.truncate(mark)
		return false
	}
	r.out = append(r.out, ']')
	return true
}

// The leaves. Each is true, for it is not null.

func (r *Run) String(text string) bool {
	r.grow(len(text) + len(`""`))
	r.out = AppendString(r.out, text)
	return true
}

func (r *Run) Int(n int64) bool {
	r.out = strconv.AppendInt(r.out, n, 10)
	return true
}

func (r *Run) Boolean(b bool) bool {
	r.out = strconv.AppendBool(r.out, b)
	return true
}

// Bytes is the answer as far as it is written, for what appends to it by
// itself.
func (r *Run) Bytes() []byte { return r.out }

// SetBytes takes the answer with what was appended to it; false, for null,
// where nothing was.
func (r *Run) SetBytes(answer []byte) bool {
	grown := len(answer) > len(r.out)
	r.out = answer
	return grown
}

// Marshal has a value write itself.
func (r *Run) Marshal(value graphql.Marshaler) bool {
	if value == graphql.Null {
		return false
	}
	value.MarshalGQL((*outputWriter)(r))
	return true
}

// MarshalContext is Marshal for values that may fail.
func (r *Run) MarshalContext(ctx context.Context, value graphql.ContextMarshaler) bool {
	var body bytes.Buffer
	if err := value.MarshalGQLContext(ctx, &body); err != nil {
		r.errorCount++
		graphql.AddError(r.fieldContext(ctx), err)
		return false
	}
	_, _ = (*outputWriter)(r).Write(body.Bytes()) // never fails
	return true
}

// outputWriter is the end of an answer, as a writer.
type outputWriter Run

// Write implements io.Writer.
func (t *outputWriter) Write(text []byte) (int, error) {
	(*Run)(t).grow(len(text))
	t.out = append(t.out, text...)
	return len(text), nil
}

// WriteString implements io.StringWriter.
func (t *outputWriter) WriteString(text string) (int, error) {
	(*Run)(t).grow(len(text))
	t.out = append(t.out, text...)
	return len(text), nil
}

var _ io.StringWriter = (*outputWriter)(nil)

// Fail is false, for null, with the error of the field that the run is at.
func (r *Run) Fail(ctx context.Context, err error) bool {
	r.errorCount++
	ctx = r.fieldContext(ctx)
	if panicked, is := err.(*panicError); is { // which has no location, as with gqlgen's executor
		err = graphql.ErrorOnPath(ctx, panicked.error)
	} else {
		err = graphql.AddFieldLocationToError(ctx, err)
	}
	graphql.GetOperationContext(ctx).Error(ctx, err)
	return false
}

// panicError is what the operation makes of a panic.
type panicError struct{ error }

// Call calls a resolver. A panic of it is the error of its field.
func Call[T any](ctx context.Context, resolve func() (T, error)) (value T, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = &panicError{graphql.GetOperationContext(ctx).RecoverFunc(ctx, reason)}
		}
	}()
	return resolve()
}

// Missing is false, for null, with an error that says that there can be none.
func (r *Run) Missing(ctx context.Context) bool {
	r.errorCount++
	ctx = r.fieldContext(ctx)
	if !graphql.HasFieldError(ctx, graphql.GetFieldContext(ctx)) {
		graphql.AddErrorf(ctx, "the requested element is null which the schema does not allow")
	}
	return false
}

// fieldContext is the context as gqlgen's executor has it where the run is, for the path
// of an error.
func (r *Run) fieldContext(ctx context.Context) context.Context {
	for _, place := range r.path {
		at := &graphql.FieldContext{Index: &place.index}
		if place.field != nil {
			at = &graphql.FieldContext{Field: place.field.collected}
		}
		ctx = graphql.WithFieldContext(ctx, at)
	}
	return ctx
}

// ReadArguments reads a field's arguments by the schema's types. It is
// generated.
type ReadArguments func(ctx context.Context, raw map[string]any) (map[string]any, error)

// Arguments are a field's, read once for all rows of a run, or of all runs;
// false, with the error told, where they cannot be.
func (r *Run) Arguments(ctx context.Context, f *Field, read ReadArguments) (map[string]any, bool) {
	if kept := f.arguments.Load(); kept != nil {
		return *kept, true
	}
	if kept, ok := r.arguments[f]; ok {
		return kept, true
	}
	at := r.fieldContext(ctx)
	arguments, err := read(at, f.collected.ArgumentMap(r.variables))
	if err != nil {
		r.errorCount++
		graphql.GetOperationContext(at).Error(at, err)
		return nil, false
	}
	switch {
	case f.constant:
		if f.arguments.CompareAndSwap(nil, &arguments) {
			f.plan.grow(heapsize.Of(arguments) + 8)
		}
	case r.arguments == nil:
		r.arguments = map[*Field]map[string]any{f: arguments}
	default:
		r.arguments[f] = arguments
	}
	return arguments, true
}

// Introspection writes a field of the schema itself, by gqlgen's code for it.
func (r *Run) Introspection(ctx context.Context, f *Field, resolve func(context.Context, graphql.CollectedField) graphql.Marshaler) bool {
	return r.Marshal(resolve(ctx, f.collected))
}

// Root runs a field of the query's root within the middleware of root fields.
func (r *Run) Root(ctx context.Context, f *Field, field func(context.Context) bool) bool {
	written := false
	ctx = graphql.WithRootFieldContext(ctx, &graphql.RootFieldContext{Object: f.collected.Name, Field: f.collected})
	graphql.GetOperationContext(ctx).RootResolverMiddleware(ctx, func(ctx context.Context) graphql.Marshaler {
		if written = field(ctx); !written {
			return graphql.Null
		}
		return alreadyWritten
	})
	return written
}

// alreadyWritten stands for what is in the answer already.
var alreadyWritten = graphql.WriterFunc(func(io.Writer) {})
