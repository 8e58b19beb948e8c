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

// Recorded runs a write of one resource of a kind, and records in the audit log what changed of it.
func (w *Writer) Recorded(ctx context.Context, k Kind, id string, write func() error) error {
	_, err := w.recorded(ctx, k, store.ValidIDs([]string{id}), store.AuditUpdated, func() ([]string, error) { return []string{id}, write() })
	return err
}

// WriteAll writes sources of a kind, and records those that it changed. It returns their number.
func (w *Writer) WriteAll(ctx context.Context, k Kind, sources []Source) (changed int, err error) {
	return w.recorded(ctx, k, keysOf(sources), store.AuditImported, func() ([]string, error) { return k.Write(ctx, w, sources) })
}

// DeleteAll deletes resources of a kind by id, and records those that existed. It returns their number.
func (w *Writer) DeleteAll(ctx context.Context, k Kind, ids []string) (deleted int, err error) {
	return w.recorded(ctx, k, ids, store.AuditDeleted, func() ([]string, error) { return k.Delete(ctx, w, ids) })
}

// keysOf returns the keys of sources, in their order.
func keysOf(sources []Source) []string {
	keys := make([]string, len(sources))
	for i, s := range sources {
		keys[i] = s.Key()
	}
	return keys
}

// recorded runs a write of some resources of a kind, which returns the ids of those that it changed, and records these. Of
// a ledger it records the number of entries. together is the action of resources that are not recorded one by one.
func (w *Writer) recorded(ctx context.Context, k Kind, ids []string, together store.AuditAction, write func() ([]string, error)) (changed int, err error) {
	if k.Ledger {
		written, err := write()
		if err == nil && len(written) > 0 {
			w.Record(store.AuditEvent{Kind: store.AuditKind(k.Name), Action: together, Count: len(written)})
		}
		return len(written), err
	}
	room := len(ids) // resources that may be recorded one by one
	if w.Limit != nil {
		room = w.Limit.Left - w.single
	}
	before, err := w.linesBefore(ctx, k, ids, room)
	if err != nil {
		return 0, err
	}
	w.members = map[string][]store.MemberChange{}
	written, err := write()
	members := w.members
	w.members = nil
	if err != nil {
		return 0, err
	}
	return len(written), w.recordWritten(ctx, k, written, together, before, members, room)
}

// recordWritten records resources that a write changed: those whose line before is known one by one, as far as there is
// room, and the others together, by id.
func (w *Writer) recordWritten(ctx context.Context, k Kind, written []string, together store.AuditAction, before map[string][]byte, members map[string][]store.MemberChange, room int) error {
	var single, rest []string
	for _, id := range written {
		if _, known := before[id]; known && len(single) < room {
			single = append(single, id)
		} else {
			rest = append(rest, id)
		}
	}
	read := single
	if together == store.AuditDeleted { // nodes with many products still exist: a later transaction deletes and records them
		read = written
	}
	after, err := w.lines(ctx, k, read)
	if err != nil {
		return err
	}
	for _, id := range single {
		w.recordLine(k, id, before[id], after[id], members[id])
	}
	rest = slices.DeleteFunc(rest, func(id string) bool { return after[id] != nil })
	for ids := range slices.Chunk(rest, store.MaxAuditIDs) {
		w.Record(store.AuditEvent{Kind: store.AuditKind(k.Name), Action: together, Count: len(ids), IDs: ids})
	}
	return nil
}

// The bounds of what a transaction of an import reads to show what was before.
const (
	linesAtOnce    = 512      // lines of a statement
	maxBytesBefore = 16 << 20 // of all lines; resources after them are recorded together
)

// linesBefore returns the lines of resources before a write, by id; nil for those that do not exist. Which of them will
// change is not known. But an import skips unchanged lines of kinds that are stored whole, so nearly all the others
// change, and no more of them are read than there is room for.
func (w *Writer) linesBefore(ctx context.Context, k Kind, ids []string, room int) (map[string][]byte, error) {
	before, size := map[string][]byte{}, 0
	for ids := range slices.Chunk(ids, linesAtOnce) {
		if room == 0 || k.Whole != nil && len(before) >= room || w.Limit != nil && size > maxBytesBefore {
			break
		}
		lines, err := w.lines(ctx, k, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			before[id] = lines[id]
			size += len(lines[id])
		}
	}
	return before, nil
}

// RecordMembers records members of a resource besides those of its line. During a write of its kind they become part of
// the resource's event; there are none if the resource is recorded together with others.
func (w *Writer) RecordMembers(kind store.AuditKind, id string, members ...store.MemberChange) {
	if w.members != nil {
		w.members[id] = append(w.members[id], members...)
		return
	}
	w.Record(store.NewAuditEvent(kind, id, store.AuditUpdated, members...))
}

// recordLine records the change of a resource from its line before to its line after, and further members. A line is nil
// if the resource does not exist. Without a change it records nothing.
func (w *Writer) recordLine(k Kind, id string, before, after []byte, besides []store.MemberChange) {
	action := store.AuditUpdated
	switch {
	case bytes.Equal(before, after) && len(besides) == 0:
		return
	case before == nil:
		action, before = store.AuditCreated, []byte(`{}`)
	case after == nil:
		action, after = store.AuditDeleted, []byte(`{}`)
	}
	w.single++
	if w.single == 1 && w.Limit != nil { // once; the function reads the final number
		w.AfterCommit(func() { w.Limit.Left -= w.single })
	}
	members := slices.DeleteFunc(store.ChangedMembers(before, after), func(m store.MemberChange) bool {
		return len(m.Path) == 1 && slices.Contains(Unrecorded, m.Path[0])
	})
	k.MaskSecrets(members)
	w.Record(store.NewAuditEvent(store.AuditKind(k.Name), id, action, append(members, besides...)...))
}

// Unrecorded are members of a line that say which resource it is, and objects that are empty.
var Unrecorded = []string{"type", "id", "attributes", "relationships"}

// MaskSecrets replaces the values of members that are secrets.
func (k Kind) MaskSecrets(members []store.MemberChange) {
	for i, m := range members {
		if slices.Contains(k.Secrets, m.Path[0]) {
			members[i] = store.MemberChange{Path: m.Path, Before: masked(m.Before), After: masked(m.After)}
		}
	}
}

// masked returns maskedValue for a value; nil for an absent one.
func masked(value json.RawMessage) json.RawMessage {
	if value == nil {
		return nil
	}
	return maskedValue
}

// lines returns the lines of resources as they are stored now, by id.
func (w *Writer) lines(ctx context.Context, k Kind, ids []string) (map[string][]byte, error) {
	if len(ids) == 0 {
		return nil, nil
	}
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
		id := cmp.Or(key.ID, key.Slug, k.Name)            // the settings have neither id nor slug, and are one row
		if _, is := slices.BinarySearch(wanted, id); is { // kinds with few rows export all of them
			found[id] = bytes.TrimSpace(line)
			if k.Input != nil {
				found[id] = k.Input(found[id])
			}
		}
	}
	return found, nil
}
