// Package audit reads the audit log: Service lists its events, newest first, and reads them as a feed of changes
// in the order of their commits. Package db writes them, in the transactions of the writes. It may import store and
// db.
package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"portico/store"
	"portico/store/db"
)

// Service reads the audit log.
type Service struct{ db *db.DB }

// NewService returns the service of a database.
func NewService(d *db.DB) *Service { return &Service{db: d} }

// Filter selects events. Each member that is zero selects all.
type Filter struct {
	Actor      *string // exactly, for example client:0198f1f3 or command:import; nil for all
	Kind       store.AuditKind
	ResourceID *string // not found in events of several resources; nil for all
	Action     store.AuditAction
	Times      []store.Range // of store.SortCreatedAt
}

// Events lists events, newest first.
func (s *Service) Events(ctx context.Context, filter Filter, page store.Page) (*store.Slice[*store.AuditEvent], error) {
	slice, err := db.List(ctx, s.db, filter.listing(), store.ListQuery{Sort: store.Sort{By: store.SortCreatedAt, Descending: true}, Ranges: filter.Times, Page: page})
	if err != nil {
		return nil, err
	}
	return slice, charge(ctx, slice.Items)
}

// readWork is the work on a byte of an event: it is read, decoded and written.
const readWork = 6

// charge accounts for what events hold besides their columns.
func charge(ctx context.Context, events []*store.AuditEvent) error {
	size := 0
	for _, e := range events {
		for _, id := range e.IDs {
			size += len(id)
		}
		for i := range e.Members {
			size += e.Members[i].Size()
		}
	}
	return store.Charge(ctx, size*readWork)
}

const eventColumns = `id, created_at, actor, operation, kind, resource_id, action, resources, body`

// totalSQL is the number of all events: numbers have no gaps, and the oldest events are deleted first.
const totalSQL = `SELECT (SELECT value FROM counter WHERE name = 'audit') - (SELECT value FROM counter WHERE name = 'audit_swept')`

func (f Filter) listing() db.Listing[*store.AuditEvent] {
	l := db.Listing[*store.AuditEvent]{
		Name: "audit_event", Columns: eventColumns, Table: "audit_event", ID: "id", Scan: scanEvent,
		Key: func(e *store.AuditEvent, _ store.Sort) []any { return []any{store.Micros(e.At), e.ID} },
	}
	equal := func(column, value string) {
		l.Conditions = append(l.Conditions, db.Condition{Clause: column + " = ?", Values: []any{value}})
	}
	if f.Actor != nil {
		equal("actor", *f.Actor)
	}
	if f.Kind != "" {
		equal("kind", string(f.Kind))
	}
	if f.ResourceID != nil {
		equal("resource_id", *f.ResourceID)
		if *f.ResourceID == "" { // no resource has this id, but events of several resources do
			l.Conditions = append(l.Conditions, db.Condition{Clause: "FALSE"})
		}
	}
	if f.Action != "" {
		equal("action", string(f.Action))
	}
	if len(l.Conditions) == 0 {
		l.TotalSQL = totalSQL
	}
	return l
}

func scanEvent(rows *sql.Rows) (*store.AuditEvent, error) {
	e := &store.AuditEvent{}
	var created int64
	var body string
	if err := rows.Scan(&e.ID, &created, &e.Actor, &e.Operation, &e.Kind, &e.ResourceID, &e.Action, &e.Count, &body); err != nil {
		return nil, err
	}
	e.At = store.FromMicros(created)
	if body == "" {
		return e, nil
	}
	var kept db.AuditBody
	err := json.Unmarshal([]byte(body), &kept)
	e.IDs, e.Members, e.MemberCount = strings.Fields(kept.IDs), kept.Members, kept.MemberCount
	return e, err
}
