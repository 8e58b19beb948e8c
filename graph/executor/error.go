package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/document"
	"portico/graph/model"
	"portico/store"
)

// errorPresenter says errors in the caller's terms, with extensions.code from the
// closed list. What is unexpected is logged here, once, and not shown.
func errorPresenter(log *slog.Logger) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		if tooManyErrors(ctx) {
			return nil
		}
		shown := graphql.DefaultErrorPresenter(ctx, err)
		var own *gqlerror.Error
		if errors.As(err, &own) && own.Unwrap() == nil { // the executor's own word on the request
			shown.Message = shorten(shown.Message)
			if _, told := own.Extensions["code"].(store.Code); !told {
				shown.Extensions = map[string]any{"code": store.Invalid}
			}
			return shown
		}
		first := store.AsErrors(err)[0]
		if first.Code == store.Internal {
			log.ErrorContext(ctx, "a resolver failed", "error", err, "path", shown.Path.String())
		}
		shown.Message = shorten(model.Message(first))
		shown.Extensions = map[string]any{"code": first.Code}
		if len(first.Path) > 0 {
			shown.Extensions["argument"] = model.ArgumentPath(first.Path)
		} else if argument := argumentIn(ctx, shown); argument != nil && first.Code != store.Internal {
			document.NameArgument(shown, first.Code, argument)
		}
		return shown
	}
}

// argumentIn is the argument that an error of a field is about: the rest of
// its path, where that goes beyond the field. It leaves the field's own path
// and place, which are those of the answer and the document.
func argumentIn(ctx context.Context, fault *gqlerror.Error) (argument []string) {
	field := graphql.GetFieldContext(ctx)
	if field == nil {
		return nil
	}
	path := field.Path()
	if len(fault.Path) <= len(path) || !slices.Equal(fault.Path[:len(path)], path) {
		return nil
	}
	for _, step := range fault.Path[len(path):] {
		argument = append(argument, fmt.Sprint(step))
	}
	fault.Path = path
	if position := field.Field.Position; position != nil {
		fault.Locations = []gqlerror.Location{{Line: position.Line, Column: position.Column}}
	}
	return argument
}
