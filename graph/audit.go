package graph

import (
	"context"

	"portico/graph/model"
	"portico/internal/auth"
)

func (r queryResolver) AuditEvents(ctx context.Context, filter *model.AuditEventFilter, first *int, after *string, last *int, before *string, offset *int) (*model.AuditEventConnection, error) {
	if err := auth.Require(ctx, "Query.auditEvents"); err != nil {
		return nil, err
	}
	slice, err := r.store.Audit.Events(ctx, filter.Filter(), pageOf(first, after, last, before, offset))
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, model.NewAuditEvents(slice.Items)), nil
}

func (r queryResolver) Changes(ctx context.Context, first int, after *string) (*model.ChangeFeed, error) {
	if err := auth.Require(ctx, "Query.changes"); err != nil {
		return nil, err
	}
	changes, err := r.store.Audit.Changes(ctx, first, deref(after))
	if err != nil {
		return nil, err
	}
	continues := after != nil
	return model.NewChangeFeed(changes, continues), nil
}
