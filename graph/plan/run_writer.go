package plan

import (
	"bytes"
	"context"
	"io"
	"math/bits"
	"strconv"

	"github.com/99designs/gqlgen/graphql"

	"portico/internal/heapsize"
)

// The methods of Run that generated code calls: they write fields, lists and leaves, report errors
// and decode arguments.

// Mark returns the current position in the response.
func (r *Run) Mark() int { return len(r.out) }

// Begin writes the name of a field. Its value comes next.
func (r *Run) Begin(f *Field) {
	r.path = append(r.path, pathElement{f, -1})
	r.grow(len(f.key) + smallLeaf)
	r.out = append(r.out, f.key...)
}

// End closes the current field or list element. Call it after its value, including null,
// was written.
func (r *Run) End() { r.path = r.path[:len(r.path)-1] }

// Null writes null for a field. It returns false if that makes the object null.
func (r *Run) Null(f *Field) bool {
	r.out = append(r.out, "null"...)
	return !f.info.NonNull
}

// Close ends the object that began at mark. If valid is false, it removes the object,
// which is null. All its fields have run by then, so that all errors are reported.
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

// truncate removes what was written since a mark.
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

// NullElement writes null for a nullable element.
func (r *Run) NullElement() { r.out = append(r.out, "null"...) }

// CloseList ends the list that began at mark. If valid is false, it removes the list,
// which is null.
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

// Bytes returns the response so far, for code that appends to it.
func (r *Run) Bytes() []byte { return r.out }

// SetBytes sets the response after code appended to it. It returns false, for null, if
// nothing was appended.
func (r *Run) SetBytes(answer []byte) bool {
	grown := len(answer) > len(r.out)
	r.out = answer
	return grown
}

// Marshal lets a value write itself.
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
		graphql.AddError(r.fieldContext(ctx), err)
		return false
	}
	_, _ = (*outputWriter)(r).Write(body.Bytes()) // never fails
	return true
}

// outputWriter appends to a run's response.
type outputWriter Run

// Write implements io.Writer.
func (w *outputWriter) Write(text []byte) (int, error) {
	(*Run)(w).grow(len(text))
	w.out = append(w.out, text...)
	return len(text), nil
}

// WriteString implements io.StringWriter.
func (w *outputWriter) WriteString(text string) (int, error) {
	(*Run)(w).grow(len(text))
	w.out = append(w.out, text...)
	return len(text), nil
}

var _ io.StringWriter = (*outputWriter)(nil)

// Fail reports the error of the current field, each of several, and returns false for null.
func (r *Run) Fail(ctx context.Context, err error) bool {
	ctx = r.fieldContext(ctx)
	if several, are := err.(interface{ Unwrap() []error }); are {
		for _, one := range several.Unwrap() {
			graphql.GetOperationContext(ctx).Error(ctx, graphql.AddFieldLocationToError(ctx, one))
		}
		return false
	}
	if panicked, is := err.(*panicError); is { // which has no location, as with gqlgen's executor
		err = graphql.ErrorOnPath(ctx, panicked.error)
	} else {
		err = graphql.AddFieldLocationToError(ctx, err)
	}
	graphql.GetOperationContext(ctx).Error(ctx, err)
	return false
}

// panicError is a recovered panic of a resolver.
type panicError struct{ error }

// Call calls a resolver, and recovers its panics.
func Call[T any](ctx context.Context, resolve func() (T, error)) (value T, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = &panicError{graphql.GetOperationContext(ctx).RecoverFunc(ctx, reason)}
		}
	}()
	return resolve()
}

// Missing reports that the current field is null although it is non-null, unless the field has an error. It returns false.
func (r *Run) Missing(ctx context.Context) bool {
	ctx = r.fieldContext(ctx)
	if !graphql.HasFieldError(ctx, graphql.GetFieldContext(ctx)) {
		graphql.AddErrorf(ctx, "the requested element is null which the schema does not allow")
	}
	return false
}

// fieldContext returns the context that gqlgen's executor would have here, for the path
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

// ReadArguments decodes a field's arguments. It is generated.
type ReadArguments func(ctx context.Context, raw map[string]any) (map[string]any, error)

// Arguments returns a field's arguments, decoded once for all rows of a run, or of all
// runs. It returns false after an error.
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

// Introspection writes __schema or __type with gqlgen's code.
func (r *Run) Introspection(ctx context.Context, f *Field, resolve func(context.Context, graphql.CollectedField) graphql.Marshaler) bool {
	return r.Marshal(resolve(ctx, f.collected))
}

// alreadyWritten stands for a value that is in the response.
var alreadyWritten = graphql.WriterFunc(func(io.Writer) {})

// AppendString appends a JSON string as gqlgen writes it: only quotation marks,
// backslashes and control characters are escaped.
func AppendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for {
		n := plainPrefix(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, text[n])
		text = text[n+1:]
	}
}

const hexDigits = "0123456789ABCDEF"

// appendEscape appends the escape of a byte that plainPrefix stopped at.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '\t':
		return append(dst, '\\', 't')
	case '\r':
		return append(dst, '\\', 'r')
	case '\n':
		return append(dst, '\\', 'n')
	case '\\', '"':
		return append(dst, '\\', c)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// The highest bit of each byte of a word, and the lowest.
const (
	highBits = 0x8080808080808080
	lowBits  = 0x0101010101010101
)

// plainPrefix returns how many bytes at the start of text need no escape, checking eight
// at a time.
func plainPrefix(text string) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		word := uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16 | uint64(text[i+3])<<24 |
			uint64(text[i+4])<<32 | uint64(text[i+5])<<40 | uint64(text[i+6])<<48 | uint64(text[i+7])<<56 // one load
		// A byte of special has its highest bit if the byte is below 0x20, or 0 in quote or backslash: the subtraction borrows then,
		// and &^ drops bytes that had the bit before. Bytes after the first may be wrong, which does not matter.
		quote, backslash := word^(lowBits*'"'), word^(lowBits*'\\')
		special := ((word - lowBits*0x20) &^ word) | ((quote - lowBits) &^ quote) | ((backslash - lowBits) &^ backslash)
		if special &= highBits; special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}
