package executor

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/document"
)

// preparedDocuments hands gqlgen's executor the document that was prepared for
// the operation. It implements graphql.Cache.
type preparedDocuments struct{}

type preparedKey struct{}

// WithPrepared is the context of an operation whose document was prepared.
func WithPrepared(ctx context.Context, asked *document.Operation) context.Context {
	return context.WithValue(ctx, preparedKey{}, asked)
}

// Get implements graphql.Cache.
func (preparedDocuments) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	asked, ok := ctx.Value(preparedKey{}).(*document.Operation)
	if !ok {
		return nil, false
	}
	return asked.Document, true
}

// Add implements graphql.Cache.
func (preparedDocuments) Add(context.Context, string, *ast.QueryDocument) {}
