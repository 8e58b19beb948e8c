package document

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// nameArguments adds the argument and member to the library's errors of values, in the message and in
// extensions.argument. The library reports only their location.
func nameArguments(document *ast.QueryDocument, errs gqlerror.List) {
	at := map[gqlerror.Location][]*gqlerror.Error{}
	for _, err := range errs {
		if isValueError(err) && len(err.Locations) > 0 {
			at[err.Locations[0]] = append(at[err.Locations[0]], err)
		}
	}
	if len(at) == 0 {
		return
	}
	w := valueWalker{visit: func(path []string, position *ast.Position, _ *ast.Value) {
		if position == nil {
			return
		}
		location := gqlerror.Location{Line: position.Line, Column: position.Column}
		for _, err := range at[location] {
			NameArgument(err, store.Invalid, slices.Clone(path))
		}
		delete(at, location)
	}}
	w.document(document)
}

// NameArgument adds the path of an argument to an error, and sets its code.
func NameArgument(err *gqlerror.Error, code store.Code, path []string) {
	err.Message = strings.Join(path, ".") + ": " + err.Message
	err.Extensions = map[string]any{"code": code, "argument": path}
}

// isValueError reports whether an error is about a value, whose location it has.
func isValueError(err *gqlerror.Error) bool {
	return err.Rule == "ValuesOfCorrectType" || err.Rule == "UniqueInputFieldNames"
}
