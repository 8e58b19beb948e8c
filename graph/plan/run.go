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
	answer    []byte
	places    []place
	steps     [24]place                 // where places begins
	arguments map[*Field]map[string]any // that variables went into
	variables map[string]any
	holes     *Holes // nil where live fields are written like all others
	faults    int    // errors told so far, by this run itself
	runner    *Runner
}

// place is a step from the root: a field, or an element of its list.
type place struct {
	field *Field
	index int // -1 for the field itself
}

// Mark is a position in the answer.
func (r *Run) Mark() int { return len(r.answer) }

// Begin writes the name of a field, whose value is next.
func (r *Run) Begin(f *Field) {
	r.places = append(r.places, place{f, -1})
	r.answer = append(r.answer, f.key...)
}

// End ends a field or an element, whose value was written, or was null.
func (r *Run) End() { r.places = r.places[:len(r.places)-1] }

// Null writes null in place of a field's value; false where that makes its
// object null.
func (r *Run) Null(f *Field) bool {
	r.answer = append(r.answer, "null"...)
	return !f.description.NonNull
}

// Close ends the object that began at a mark. An object with a null where
// there can be none is null itself: it leaves the answer, and its neighbours
// have all run, as their errors are to be told.
func (r *Run) Close(mark int, valid bool) bool {
	if !valid {
		r.cut(mark)
		return false
	}
	if len(r.answer) == mark {
		r.answer = append(r.answer, '{')
	}
	r.answer = append(r.answer, '}')
	return true
}

// cut takes back what was written since a mark, and the holes in it.
func (r *Run) cut(mark int) {
	r.answer = r.answer[:mark]
	if r.holes != nil {
		r.holes.cut(mark)
	}
}

// Open begins a list.
func (r *Run) Open() (mark int) {
	mark = len(r.answer)
	r.answer = append(r.answer, '[')
	return mark
}

// Element begins an element of the list.
func (r *Run) Element(i int) {
	if i > 0 {
		r.answer = append(r.answer, ',')
	}
	r.places = append(r.places, place{nil, i})
}

// NullElement writes null in place of an element that can be null.
func (r *Run) NullElement() { r.answer = append(r.answer, "null"...) }

// CloseList ends the list that began at a mark; one with a null where there
// can be none is null itself.
func (r *Run) CloseList(mark int, valid bool) bool {
	if !valid {
		r.cut(mark)
		return false
	}
	r.answer = append(r.answer, ']')
	return true
}

// The leaves. Each is true, for it is not null.

func (r *Run) String(text string) bool {
	r.answer = AppendString(r.answer, text)
	return true
}

func (r *Run) Int(n int64) bool {
	r.answer = strconv.AppendInt(r.answer, n, 10)
	return true
}

func (r *Run) Boolean(b bool) bool {
	r.answer = strconv.AppendBool(r.answer, b)
	return true
}

// Answer is the answer as far as it is written, for what appends to it by
// itself.
func (r *Run) Answer() []byte { return r.answer }

// Appended takes the answer with what was appended to it; false, for null,
// where nothing was.
func (r *Run) Appended(answer []byte) bool {
	grown := len(answer) > len(r.answer)
	r.answer = answer
	return grown
}

// Marshal has a value write itself.
func (r *Run) Marshal(value graphql.Marshaler) bool {
	if value == graphql.Null {
		return false
	}
	value.MarshalGQL((*tail)(r))
	return true
}

// MarshalContext is Marshal for values that may fail.
func (r *Run) MarshalContext(ctx context.Context, value graphql.ContextMarshaler) bool {
	var body bytes.Buffer
	if err := value.MarshalGQLContext(ctx, &body); err != nil {
		r.faults++
		graphql.AddError(r.at(ctx), err)
		return false
	}
	r.answer = append(r.answer, body.Bytes()...)
	return true
}

// tail is the end of an answer, as a writer.
type tail Run

// Write implements io.Writer.
func (t *tail) Write(text []byte) (int, error) {
	t.answer = append(t.answer, text...)
	return len(text), nil
}

// WriteString implements io.StringWriter.
func (t *tail) WriteString(text string) (int, error) {
	t.answer = append(t.answer, text...)
	return len(text), nil
}

var _ io.StringWriter = (*tail)(nil)

// Fail is false, for null, with the error of the field that the run is at.
func (r *Run) Fail(ctx context.Context, err error) bool {
	r.faults++
	ctx = r.at(ctx)
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
	r.faults++
	ctx = r.at(ctx)
	if !graphql.HasFieldError(ctx, graphql.GetFieldContext(ctx)) {
		graphql.AddErrorf(ctx, "the requested element is null which the schema does not allow")
	}
	return false
}

// at is the context as gqlgen's executor has it where the run is, for the path
// of an error.
func (r *Run) at(ctx context.Context) context.Context {
	for _, place := range r.places {
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
	at := r.at(ctx)
	arguments, err := read(at, f.collected.ArgumentMap(r.variables))
	if err != nil {
		r.faults++
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

// Schema writes a field of the schema itself, by gqlgen's code for it.
func (r *Run) Schema(ctx context.Context, f *Field, resolve func(context.Context, graphql.CollectedField) graphql.Marshaler) bool {
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
		return finished
	})
	return written
}

// finished stands for what is in the answer already.
var finished = graphql.WriterFunc(func(io.Writer) {})
