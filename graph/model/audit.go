package model

import (
	"portico/store"
	"portico/store/audit"
)

// AuditEvent is an event of the audit log.
type AuditEvent struct{ *store.AuditEvent }

// AuditEventFilter selects events; nil members select all.
type AuditEventFilter struct {
	Actor      *string
	Kind       *store.AuditKind
	ResourceID *string // global or own
	Action     *store.AuditAction
	CreatedAt  *DateTimeBounds
}

// Filter returns the filter of the store; the zero value for nil.
func (f *AuditEventFilter) Filter() (filter audit.Filter) {
	if f == nil {
		return filter
	}
	filter.Actor = f.Actor
	assign(&filter.Kind, f.Kind)
	assign(&filter.Action, f.Action)
	filter.Times = f.CreatedAt.ranges(store.SortCreatedAt)
	if f.ResourceID != nil {
		filter.ResourceID = new(store.LocalID(*f.ResourceID))
	}
	return filter
}

// assign sets a member, unless the value is nil.
func assign[T any](member, to *T) {
	if to != nil {
		*member = *to
	}
}

// AuditEventEdge is a row with its cursor.
type AuditEventEdge = Edge[*AuditEvent]

// AuditEventConnection is a page of the audit log.
type AuditEventConnection = Connection[*AuditEvent]

// NewAuditEvents returns the rows of events.
func NewAuditEvents(events []*store.AuditEvent) []*AuditEvent {
	rows := make([]*AuditEvent, len(events))
	for i, e := range events {
		rows[i] = &AuditEvent{e}
	}
	return rows
}

// ActorName returns who wrote, such as client:shop.
func (e *AuditEvent) ActorName() string { return string(e.Actor) }

// OperationName returns the operation that wrote, such as Mutation.stockTransact, or nil for a command.
func (e *AuditEvent) OperationName() *string { return store.NonEmpty(e.Operation) }

// Resource returns the id of the resource, or nil for several, which Resources has.
func (e *AuditEvent) Resource() *string { return store.NonEmpty(e.ResourceID) }

// Resources returns the ids of several resources.
func (e *AuditEvent) Resources() []string { return append([]string{}, e.IDs...) }

// MemberRows returns the changed members with what they were before and after.
func (e *AuditEvent) MemberRows() []*store.MemberExcerpt {
	rows := make([]*store.MemberExcerpt, len(e.Members))
	for i, m := range e.Members {
		rows[i] = ShownChange(string(e.Kind), &m)
	}
	return rows
}

// ChangeFeed is a page of the feed of changes.
type ChangeFeed struct {
	Nodes        []*AuditEvent
	PageInfo     PageInfo
	LatestCursor string // of the newest change of the feed, also if it is on a later page
}

// NewChangeFeed returns the page. continues says that it follows a cursor, so that there is a page before it.
func NewChangeFeed(c *audit.Changes, continues bool) *ChangeFeed {
	return &ChangeFeed{NewAuditEvents(c.Events), NewPageInfo(c.HasNext, continues, len(c.Events), c.Cursor), c.Latest}
}
