package authoring

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"portico/store"
)

// maskedValue stands for a secret in the audit log.
var maskedValue = json.RawMessage(`"********"`)

// Recorded runs a write of resources of a kind, which returns how many it changed, and records in the audit log what
// changed of them. Resources of a ledger, and those beyond the limit of an import, are recorded together, without
// members.
func (w *Writer) Recorded(ctx context.Context, k Kind, ids []string, write func() (int, error)) (changed int, err error) {
	return w.recorded(ctx, k, ids, store.AuditImported, write)
}

// WriteAll writes sources of a kind, and records what it changed.
func (w *Writer) WriteAll(ctx context.Context, k Kind, sources []Source) (changed int, err error) {
	return w.recorded(ctx, k, keysOf(sources), store.AuditImported, func() (int, error) { return k.Write(ctx, w, sources) })
}

// DeleteAll deletes resources of a kind by id, and records those that existed.
func (w *Writer) DeleteAll(ctx context.Context, k Kind, ids []string) (deleted int, err error) {
	return w.recorded(ctx, k, ids, store.AuditDeleted, func() (int, error) { return k.Delete(ctx, w, ids) })
}

func keysOf(sources []Source) []string {
	keys := make([]string, len(sources))
	for i, s := range sources {
		keys[i] = s.Key()
	}
	return keys
}

func (w *Writer) recorded(ctx context.Context, k Kind, ids []string, together store.AuditAction, write func() (int, error)) (changed int, err error) {
	if w.together || k.Ledger || w.Limit != nil && w.Limit.Left < len(ids) {
		was := w.together
		w.together = true
		changed, err = write()
		if w.together = was; err == nil && changed > 0 && !was {
			w.recordTogether(k, ids, together, changed)
		}
		return changed, err
	}
	before, err := w.lines(ctx, k, ids)
	if err != nil {
		return 0, err
	}
	if changed, err = write(); err != nil || changed == 0 {
		return changed, err
	}
	after, err := w.lines(ctx, k, ids)
	if err != nil {
		return 0, err
	}
	for _, id := range store.Unique(ids) {
		w.recordLine(k, id, before[id], after[id])
	}
	if w.Limit != nil {
		w.AfterCommit(func() { w.Limit.Left -= len(ids) })
	}
	return changed, nil
}

// recordTogether records resources of a kind without their members.
func (w *Writer) recordTogether(k Kind, ids []string, action store.AuditAction, changed int) {
	if k.Ledger {
		w.Record(store.AuditEvent{Kind: store.AuditKind(k.Name), Action: action, Count: changed})
		return
	}
	for ids := range slices.Chunk(ids, store.MaxAuditIDs) {
		w.Record(store.AuditEvent{Kind: store.AuditKind(k.Name), Action: action, Count: len(ids), IDs: ids})
	}
}

// RecordMembers records members of a resource besides those of its line.
func (w *Writer) RecordMembers(kind store.AuditKind, id string, members ...store.MemberChange) {
	if !w.together {
		w.Record(store.NewAuditEvent(kind, id, store.AuditUpdated, members...))
	}
}

// recordLine records how the line of a resource changed; nil is none.
func (w *Writer) recordLine(k Kind, id string, before, after []byte) {
	action := store.AuditUpdated
	switch {
	case bytes.Equal(before, after):
		return
	case before == nil:
		action, before = store.AuditCreated, []byte(`{}`)
	case after == nil:
		action, after = store.AuditDeleted, []byte(`{}`)
	}
	members := slices.DeleteFunc(store.ChangedMembers(before, after), func(m store.MemberChange) bool {
		return m.Member == "type" || m.Member == "id"
	})
	for i, m := range members {
		if slices.Contains(k.Secrets, m.Member) {
			members[i] = store.MemberChange{Member: m.Member, Before: masked(m.Before), After: masked(m.After)}
		}
	}
	w.Record(store.NewAuditEvent(store.AuditKind(k.Name), id, action, members...))
}

func masked(value json.RawMessage) json.RawMessage {
	if value == nil {
		return nil
	}
	return maskedValue
}

// lines returns the lines of resources as they are stored now, by id.
func (w *Writer) lines(ctx context.Context, k Kind, ids []string) (map[string][]byte, error) {
	var out bytes.Buffer
	export := k.Export
	if k.Line != nil {
		export = k.Line
	}
	wanted := slices.Sorted(slices.Values(store.Unique(ids)))
	e := &Exporter{In: w.Session, Out: bufio.NewWriter(&out), Only: wanted}
	if err := export(ctx, e); err != nil {
		return nil, err
	}
	if err := e.Out.Flush(); err != nil {
		return nil, err
	}
	found := make(map[string][]byte, len(ids))
	for line := range bytes.Lines(out.Bytes()) {
		var key struct{ ID, Slug string }
		if err := json.Unmarshal(line, &key); err != nil {
			return nil, err
		}
		id := cmp.Or(key.ID, key.Slug, k.Name)
		if k.Name == "gateway" {
			id = key.Slug
		}
		if _, is := slices.BinarySearch(wanted, id); is { // kinds with few rows export all of them
			found[id] = bytes.TrimSpace(line)
		}
	}
	return found, nil
}
