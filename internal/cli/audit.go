package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/audit"
)

// Audit lists events of the audit log.
type Audit struct {
	Actor  string `placeholder:"ACTOR" help:"Only writes of this actor, such as client:0198f1f3-1f2e-7d2a-9d3f-6a5b4c3d2e1f or command:import."`
	Kind   string `enum:",${auditKinds}" default:"" placeholder:"KIND" help:"Only resources of this kind. One of: ${auditKindList}."`
	ID     string `placeholder:"ID" help:"Only the resource with this id. It does not find events of several resources."`
	Action string `enum:",${auditActions}" default:"" placeholder:"ACTION" help:"Only this action. One of: ${auditActionList}."`
	Since  string `placeholder:"TIME" help:"Only events of this time or later, such as 2026-11-01 or 2026-11-01T08:00:00Z."`
	Until  string `placeholder:"TIME" help:"Only events before this time."`
	Limit  int    `placeholder:"N" default:"25" help:"Most events to list, 1 to 10000."`
	Output
	StoreFlags
}

// Help is the long description.
func (*Audit) Help() string {
	return "Lists what each write did, newest first. The server keeps events for --keep-audit days. Secrets are masked. " +
		"Stock transactions and redemptions of promotion codes are in their own ledgers. " +
		jsonHelp(auditList{{ID: "00000000000000ff", At: "2026-01-31T12:00:00Z", Actor: "client:0198f1f3-1f2e-7d2a-9d3f-6a5b4c3d2e1f", Operation: new("Mutation.productsUpsert"),
			Action: string(store.AuditUpdated), Kind: string(store.AuditProduct), Resource: new("prod-latte"), Resources: []string{}, Count: 1,
			Members: []store.MemberExcerpt{{Path: []string{"attributes", "name"}, Before: new(`"Latte"`), After: new(`"Caffè Latte"`)}}, MemberCount: 1}})
}

// maxAuditEvents is the most events that are listed.
const maxAuditEvents = 10_000

// auditList is the result of audit.
type auditList []auditEntry

type auditEntry struct {
	ID          string                `json:"id"`
	At          string                `json:"at"`
	Actor       string                `json:"actor"`
	Operation   *string               `json:"operation"`
	Action      string                `json:"action"`
	Kind        string                `json:"kind"`
	Resource    *string               `json:"resource"`
	Resources   []string              `json:"resources"`
	Count       int                   `json:"count"`
	Members     []store.MemberExcerpt `json:"members"`
	MemberCount int                   `json:"member_count"`
}

func newAuditEntry(e *store.AuditEvent) auditEntry {
	return auditEntry{e.ID, *timestamp(e.At), string(e.Actor), store.NonEmpty(e.Operation), string(e.Action), string(e.Kind), store.NonEmpty(e.ResourceID),
		append([]string{}, e.IDs...), e.Count, append([]store.MemberExcerpt{}, e.Members...), e.MemberCount}
}

func (l auditList) String() string {
	if len(l) == 0 {
		return "No events.\n"
	}
	rows := [][]string{{"AT", "ACTOR", "THROUGH", "ACTION", "RESOURCE", "MEMBERS"}}
	for _, e := range l {
		rows = append(rows, []string{e.At, e.Actor, orDash(e.Operation), e.Action, e.resource(), e.members()})
	}
	return table(rows)
}

// resource is "product prod-latte", "product (500)" or "promotion_code ten-off (3)".
func (e auditEntry) resource() string {
	text := e.Kind
	if e.Resource != nil {
		text += " " + *e.Resource
	}
	if e.Count != 1 || e.Resource == nil {
		text += " (" + strconv.Itoa(e.Count) + ")"
	}
	return text
}

// members describes the first members.
func (e auditEntry) members() string {
	const most = 3
	var parts []string
	for _, m := range e.Members[:min(len(e.Members), most)] {
		change := store.MemberChange{Path: m.Path}
		if m.Before != nil {
			change.Before = []byte(*m.Before)
		}
		if m.After != nil {
			change.After = []byte(*m.After)
		}
		parts = append(parts, describeMember(change))
	}
	if more := e.MemberCount - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return orDash(store.NonEmpty(strings.Join(parts, ", ")))
}

// filter returns the filter that the flags describe.
func (c *Audit) filter(streams Streams) (f audit.Filter, err error) {
	f = audit.Filter{Actor: store.NonEmpty(c.Actor), Kind: store.AuditKind(c.Kind), ResourceID: store.NonEmpty(c.ID), Action: store.AuditAction(c.Action)}
	for _, flag := range []struct{ name, text, operator string }{{"--since", c.Since, "ge"}, {"--until", c.Until, "lt"}} {
		if flag.text == "" {
			continue
		}
		at, err := parseTime(streams, flag.name, flag.text)
		if err != nil {
			return f, err
		}
		f.Times = append(f.Times, store.Range{Attribute: store.SortCreatedAt, Operator: flag.operator, Time: at})
	}
	if c.Limit < 1 || c.Limit > maxAuditEvents {
		return f, usagef("--limit must be between 1 and %d, got %d", maxAuditEvents, c.Limit)
	}
	return f, nil
}

// Run lists them.
func (c *Audit) Run(ctx context.Context, streams Streams) error {
	filter, err := c.filter(streams)
	if err != nil {
		return err
	}
	s, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	list := auditList{}
	for page := (store.Page{}); len(list) < c.Limit; {
		page.First = new(min(store.MaxPageLength, c.Limit-len(list)))
		found, err := s.Audit.Events(ctx, filter, page)
		if err != nil {
			return fmt.Errorf("list the events: %w", err)
		}
		for _, e := range found.Items {
			list = append(list, newAuditEntry(e))
		}
		if !found.HasNext {
			break
		}
		page.After = new(found.Cursor(len(found.Items) - 1))
	}
	return c.print(streams, list)
}
