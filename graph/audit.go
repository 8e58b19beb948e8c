package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/audit"
)

func (r queryResolver) AuditEvents(ctx context.Context, filter *generated.AuditEventFilter, first *int, after *string, last *int, before *string, offset *int) (*model.AuditEventConnection, error) {
	if err := auth.Require(ctx, "Query.auditEvents"); err != nil {
		return nil, err
	}
	slice, err := r.store.AuditEvents(ctx, auditFilter(filter), pageOf(first, after, last, before, offset))
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, model.NewAuditEvents(slice.Items)), nil
}

func auditFilter(f *generated.AuditEventFilter) audit.AuditFilter {
	if f == nil {
		return audit.AuditFilter{}
	}
	filter := audit.AuditFilter{Actor: deref(f.Actor), Kind: deref(f.Kind), Action: deref(f.Action), Since: deref(f.Since), Until: deref(f.Until)}
	if f.ResourceID != nil {
		filter.ResourceID = store.LocalID(*f.ResourceID)
	}
	return filter
}

func (r queryResolver) Changes(ctx context.Context, first int, after *string) (*model.ChangeFeed, error) {
	if err := auth.Require(ctx, "Query.changes"); err != nil {
		return nil, err
	}
	changes, err := r.store.Changes(ctx, first, deref(after))
	if err != nil {
		return nil, err
	}
	return model.NewChangeFeed(changes, after != nil), nil
}
