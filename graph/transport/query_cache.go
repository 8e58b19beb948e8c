package transport

import (
	"context"

	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/document"
)

// checkedDocuments hands gqlgen's executor the document that was prepared for
// the operation. It implements graphql.Cache.
type checkedDocuments struct{}

type checkedKey struct{}

// withChecked is the context of an operation whose document was prepared.
func withChecked(ctx context.Context, asked *document.Operation) context.Context {
	return context.WithValue(ctx, checkedKey{}, asked)
}

// Get implements graphql.Cache.
func (checkedDocuments) Get(ctx context.Context, _ string) (*ast.QueryDocument, bool) {
	asked, ok := ctx.Value(checkedKey{}).(*document.Operation)
	if !ok {
		return nil, false
	}
	return asked.Document, true
}

// Add implements graphql.Cache.
func (checkedDocuments) Add(context.Context, string, *ast.QueryDocument) {}
