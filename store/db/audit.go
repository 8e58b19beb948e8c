package db

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"portico/store"
)

// Record records an event in the audit log. It is stored with the write, as its last statements. An event without
// an actor or an operation takes those of the write. Events of one resource and action become one.
func (t *Tx) Record(e store.AuditEvent) {
	e.Actor, e.Operation = cmp.Or(e.Actor, t.Actor), cmp.Or(e.Operation, store.OperationOf(t.caller))
	if e.ResourceID != "" && e.Count == 1 {
		for i := range t.events {
			if was := &t.events[i]; was.Kind == e.Kind && was.ResourceID == e.ResourceID && was.Action == e.Action && was.Actor == e.Actor {
				was.Merge(&e)
				return
			}
		}
	}
	t.events = append(t.events, e)
}

// AuditBody is what the log keeps of an event besides its columns. Other versions of the program read it.
type AuditBody struct {
	IDs         string                `json:"ids,omitempty"` // separated by spaces
	Members     []store.MemberExcerpt `json:"members,omitempty"`
	MemberCount int                   `json:"member_count,omitempty"`
}

var auditInsert = NewInserter("audit_event", []string{"id", "created_at", "actor", "operation", "kind", "resource_id", "action", "resources", "body"}, "")

// storeEvents writes the recorded events. Their numbers are consecutive, and in the order of the commits: the row of
// the counter stays locked until then. So it must be the last statement of a write that locks anything.
func (t *Tx) storeEvents(ctx context.Context) error {
	if len(t.events) == 0 {
		return nil
	}
	last, _, err := One(ctx, t.Session, Scalar[int64], `UPDATE counter SET value = value + $1 WHERE name = 'audit' RETURNING value`, len(t.events))
	if err != nil {
		return err
	}
	first := last - int64(len(t.events)) + 1
	_, err = t.Insert(ctx, auditInsert, len(t.events), func(values []any, n int) []any {
		e := &t.events[n]
		body := ""
		if len(e.IDs)+len(e.Members) > 0 {
			body = string(store.Encode(AuditBody{strings.Join(e.IDs, " "), e.Members, e.MemberCount}))
		}
		return append(values, AuditID(first+int64(n)), store.Micros(t.Now), string(e.Actor), e.Operation, string(e.Kind), e.ResourceID, string(e.Action), e.Count, body)
	})
	return err
}

// AuditID is the id of the event with a number: ids sort as numbers do.
func AuditID(number int64) string { return fmt.Sprintf("%016x", number) }
