package executor

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/document"
)

// preparedDocuments gives gqlgen's executor the document of withPrepared, which is validated already.
// It implements graphql.Cache.
type preparedDocuments struct{}

type preparedKey struct{}

// withPrepared returns a context with an operation for gqlgen's executor.
func withPrepared(ctx context.Context, op *document.Operation) context.Context {
	return context.WithValue(ctx, preparedKey{}, op)
}

// Get implements graphql.Cache.
func (preparedDocuments) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	op, ok := ctx.Value(preparedKey{}).(*document.Operation)
	if !ok {
		return nil, false
	}
	return op.Document, true
}

// Add implements graphql.Cache.
func (preparedDocuments) Add(context.Context, string, *ast.QueryDocument) {}
