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
	if !slices.ContainsFunc(errs, isValueError) {
		return
	}
	at := map[gqlerror.Location][]string{}
	w := valueWalker{visit: func(path []string, position *ast.Position, _ *ast.Value) {
		if position != nil {
			at[gqlerror.Location{Line: position.Line, Column: position.Column}] = slices.Clone(path)
		}
	}}
	w.document(document)
	for _, err := range errs {
		if path := at[locationOf(err)]; path != nil && isValueError(err) {
			// For an input that is @oneOf, the library names the first member of the type (Field "TextFilter.eq" must be non-null):
			// this puts the one that was sent.
			if before, _, wrong := strings.Cut(err.Message, `" must be non-null.`); wrong {
				err.Message = before[:strings.LastIndexByte(before, '.')+1] + path[len(path)-1] + `" must be non-null.`
			}
			NameArgument(err, store.Invalid, path)
		}
	}
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

// locationOf returns the first location of an error; the zero value, which no value has, without one.
func locationOf(err *gqlerror.Error) gqlerror.Location {
	if len(err.Locations) == 0 {
		return gqlerror.Location{}
	}
	return err.Locations[0]
}
