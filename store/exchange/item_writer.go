package exchange

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
)

// The limits of a mutation that writes items.
const (
	MaxItems         = 1000     // items, or ids to delete
	maxItemBytes     = 16 << 20 // of the stored resources together
	maxItemChanges   = 100      // listed changes of an item
	maxChangesLength = 1 << 18  // bytes of all listed values
)

// ItemOutcome is what a mutation did with a resource, or would do.
type ItemOutcome string

// The outcomes.
const (
	ItemCreated   ItemOutcome = "created"
	ItemUpdated   ItemOutcome = "updated"
	ItemUnchanged ItemOutcome = "unchanged"
	ItemDeleted   ItemOutcome = "deleted"
)

// ItemsWritten is the result of a mutation that writes items, all or none. It is stored as JSON for a day.
type ItemsWritten struct {
	Items    []*WrittenItem // in the order of the input; one for each resource
	Warnings store.Errors   // likely mistakes, the first MaxWarnings
}

// WrittenItem is a resource that a mutation wrote, or would write.
type WrittenItem struct {
	ID          string
	Outcome     ItemOutcome
	Changes     []*store.MemberExcerpt // of a created or updated one, as in the item, up to maxItemChanges and maxChangesLength
	ChangeCount int                    // of all changes
}

// itemSet describes the items of a mutation. They are numbered from 0.
type itemSet struct {
	kind  authoring.Kind
	count int

	// identify returns the id of each item's resource: a new one if it does not exist. Paths of errors begin
	// with the number of the item.
	identify func(ctx context.Context, in db.Session) ([]string, store.Errors, error)

	// patch returns what an item changes of its resource, which has the id. before is the stored line, with the changes of earlier
	// items; nil if there is none. writeItems sets the id and the type.
	patch func(i int, id string, before []byte) *itemPatch

	// place returns a path of Kind.InputPath in the input, which has the resource in items: with the number of the item, and
	// positions in the place of keys that its lists have. Nil if the items have no such lists.
	place func(items []int, path []string) []string

	shared bool             // several items may change one resource
	remove func(i int) bool // whether an item removes its resource; nil if none does

	// accept changes what is reported of a line; nil for nothing.
	accept func(d *check.Line)

	// mistakes returns further likely mistakes of lines, as accepted; nil for none.
	mistakes func(ctx context.Context, in db.Session, batch []check.Line) ([]check.ImportError, error)
}

// itemWrite is the work of a mutation in a transaction. Its methods run in the order read, check, compare, warn, write.
type itemWrite struct {
	itemSet
	*authoring.Writer
	decoder *check.Decoder
	ids     []string            // of the resources, in the order of their first items
	items   map[string][]int    // by id
	stored  map[string][]byte   // lines of the resources that exist, by id
	patches map[string][][]byte // of the items, by id
	batch   []check.Line        // merged lines, in the order of ids; Number counts them from 1
	removed []string            // ids of resources that items remove
	planned []check.Line        // of other kinds, by earlier dry runs of the operation: a dry run finds them
	faults  store.Errors
}

// Planned has what the dry runs of an operation would write. The next one finds it.
type Planned struct{ lines []check.Line }

type plannedKey struct{}

// WithPlanned returns a context for the dry runs of an operation, one at a time.
func WithPlanned(ctx context.Context, p *Planned) context.Context {
	return context.WithValue(ctx, plannedKey{}, p)
}

// writeItems writes items, all or none, as a merging import writes lines. A dry run changes no resource, but it takes a sequence
// number, and is stored as the first call of its idempotency key. Errors for the caller are store.Errors, whose paths begin with
// items and the number of the item.
func (s *Service) writeItems(ctx context.Context, actor store.Actor, set itemSet, dryRun bool) (*ItemsWritten, error) {
	if err := checkItemCount("items", set.count); err != nil {
		return nil, err
	}
	planned, _ := ctx.Value(plannedKey{}).(*Planned)
	var batch []check.Line
	result, err := db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*ItemsWritten, error) {
		w := &itemWrite{itemSet: set, Writer: &authoring.Writer{Tx: t, DB: s.db}, decoder: newLineDecoder(ImportOptions{}), items: map[string][]int{}, stored: map[string][]byte{}, patches: map[string][][]byte{}}
		if planned != nil && dryRun {
			w.planned = slices.DeleteFunc(slices.Clone(planned.lines), func(d check.Line) bool { return d.Kind == set.kind.Name })
		}
		// Mutations of items run one at a time, so that none merges onto what another replaces.
		if _, err := w.Sequence(ctx, 1); err != nil {
			return nil, err
		}
		if err := w.read(ctx); err != nil {
			return nil, err
		}
		if err := w.check(ctx); err != nil {
			return nil, err
		}
		batch = w.batch
		result, changed := w.compare()
		if err := w.warn(ctx, result); err != nil || dryRun || len(changed)+len(w.removed) == 0 {
			return result, err
		}
		n, err := w.write(ctx, changed)
		if err != nil {
			return nil, fmt.Errorf("write items of %s: %w", w.kind.Name, err)
		}
		w.Revised = n > 0 && w.kind.Published
		return result, w.Finish(ctx)
	})
	for _, d := range batch {
		if d.References = nil; err == nil && planned != nil && dryRun && d.Source != nil { // its references were checked
			planned.lines = append(planned.lines, d)
		}
	}
	return result, err
}

// write deletes what items remove and writes what changed. It returns the number of resources that did.
func (w *itemWrite) write(ctx context.Context, changed []authoring.Source) (int, error) {
	if len(w.removed) == 0 {
		return w.WriteAll(ctx, w.kind, changed)
	}
	deleted, err := w.DeleteAll(ctx, w.kind, w.removed)
	if err != nil || len(changed) == 0 {
		return deleted, err
	}
	written, err := w.WriteAll(ctx, w.kind, changed)
	return deleted + written, err
}

// checkItemCount returns an error unless a list of the input, a member, has 1 to MaxItems elements.
func checkItemCount(member string, n int) error {
	switch {
	case n == 0:
		return store.Unprocessablef([]string{member}, "must have between 1 and %d elements, got 0", MaxItems)
	case n > MaxItems:
		return store.Unprocessablef([]string{member}, "must have between 1 and %d elements, got %d; send several requests", MaxItems, n)
	}
	return nil
}

// read fills w. It identifies the resources of the items, and locks and reads those that exist. Then it merges the items onto
// them, one by one, and decodes the result. It returns the error of items that cannot be identified. Other errors of
// single items are in w.faults.
func (w *itemWrite) read(ctx context.Context) error {
	ids, faults, err := w.identify(ctx, w.Session)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return itemErrors("items", faults)
	}
	for i, id := range ids {
		if before := w.items[id]; before == nil {
			w.ids = append(w.ids, id)
		} else if !w.shared {
			w.faults = append(w.faults, store.Invalidf([]string{strconv.Itoa(i)}, "is about the same resource as an item before it, %q; send one item for each", store.Abbreviate(id)))
		}
		w.items[id] = append(w.items[id], i)
	}
	if len(w.faults) > 0 {
		return itemErrors("items", w.faults)
	}
	size := 0
	if err := eachLocked(ctx, w.Writer, w.kind, w.ids, func(line []byte) {
		if size += len(line); size <= maxItemBytes {
			if d := w.decoder.Decode(line); d.Source != nil {
				w.stored[d.Source.Key()] = slices.Clone(line)
			}
		}
	}); err != nil {
		return err
	}
	if size > maxItemBytes {
		return store.Unprocessablef([]string{"items"}, "change resources of %d bytes, and at most %d can be changed at once; send fewer items", size, maxItemBytes)
	}
	for n, id := range w.ids {
		if i := w.items[id][0]; w.remove != nil && w.remove(i) {
			if w.stored[id] == nil {
				w.faults = append(w.faults, &store.Error{Code: store.NotFound, Path: []string{"items", strconv.Itoa(i)}, Detail: "is no " + w.kind.Name + " of the store, so it cannot be removed"})
			}
			w.removed = append(w.removed, id)
			w.batch = append(w.batch, check.Line{Number: n + 1, Kind: w.kind.Name, Deletes: id})
			continue
		}
		line, wrong := w.stored[id], false
		for _, i := range w.items[id] {
			patch := w.patch(i, id, line)
			for _, fault := range patch.faults {
				w.faults, wrong = append(w.faults, fault.At(strconv.Itoa(i)).At("items")), true
			}
			changes := patch.line(w.kind.Name, id)
			w.patches[id] = append(w.patches[id], changes)
			line = mergedLine(w.decoder, w.Now, line, changes, true)
		}
		d := w.decoder.Decode(line)
		d.Number = n + 1
		if wrong {
			d.Errors = nil // they follow from those of the items
		}
		if w.accept != nil {
			w.accept(&d)
		}
		w.batch = append(w.batch, d)
	}
	return nil
}

// check returns every error of the merged lines.
func (w *itemWrite) check(ctx context.Context) error {
	references, attributes, redirects := check.NewReferenceChecker("the items"), check.NewAttributeChecker(), check.RedirectChecker{}
	for _, id := range w.removed {
		redirects.Remove(id)
	}
	for _, d := range w.planned {
		references.Add(d)
	}
	for _, d := range w.batch {
		for _, fault := range d.Errors {
			w.fault(check.ImportError{Line: d.Number, Err: fault})
		}
		if d.Source != nil {
			references.Add(d)
			attributes.Add(d)
			redirects.Add(d)
		}
	}
	missing, err := references.Missing(ctx, w.Session)
	if err != nil {
		return err
	}
	wrong, err := attributes.Wrong(ctx, w.Session)
	if err != nil {
		return err
	}
	if err := explainAttributes(ctx, w.Session, w.batch, wrong); err != nil {
		return err
	}
	loops, err := redirects.Loops(ctx, w.Session)
	if err != nil {
		return err
	}
	for _, fault := range slices.Concat(missing, wrong, loops) {
		w.fault(fault)
	}
	if err := w.checkNumber(ctx); err != nil {
		return err
	}
	if len(w.faults) > 0 {
		return store.BatchError(w.faults)
	}
	return catalog.SetTimes(ctx, w.Session, w.Now, sourcesOf(w.batch))
}

// checkNumber adds an error if the shop would have too many resources of the kind.
func (w *itemWrite) checkNumber(ctx context.Context) error {
	if w.kind.Most == 0 {
		return nil
	}
	stored, _, err := db.One(ctx, w.Session, db.Scalar[int], `SELECT COUNT(*) FROM `+w.kind.Table())
	if count := stored + len(w.ids) - len(w.stored) - len(w.removed); count > w.kind.Most {
		w.faults = append(w.faults, store.Unprocessablef([]string{"items"}, "would make %d of the type %s, and a shop has at most %d; remove some first", count, w.kind.Name, w.kind.Most))
	}
	return err
}

// ownOrNewIDs returns the id of each of count items: its own, or a new one.
func ownOrNewIDs(count int, own func(i int) *string) []string {
	ids := make([]string, count)
	for i := range ids {
		if id := own(i); id != nil {
			ids[i] = store.LocalID(*id)
		} else {
			ids[i] = store.NewID()
		}
	}
	return ids
}

// inItem returns a path in the first of some items.
func inItem(items []int, path []string) []string {
	return append([]string{strconv.Itoa(items[0])}, path...)
}

// fault adds an error with its path in the input.
func (w *itemWrite) fault(f check.ImportError) { w.faults = append(w.faults, w.placed(f)) }

// placed returns the error of a line with its path in the input.
func (w *itemWrite) placed(f check.ImportError) *store.Error {
	placed := *f.Err
	place := inItem
	if w.place != nil {
		place = w.place
	}
	placed.Path = place(w.items[w.ids[f.Line-1]], w.kind.InputPath(f.Err.Path))
	if f.Other > 0 {
		placed.Detail += fmt.Sprintf(" (items.%d)", w.items[w.ids[f.Other-1]][0])
	}
	return placed.At("items")
}

// itemErrors returns errors whose paths begin with the number of an item of a member; nil if there are none.
func itemErrors(member string, faults store.Errors) error {
	placed := make(store.Errors, len(faults))
	for i, fault := range faults {
		placed[i] = fault.At(member)
	}
	return store.BatchError(placed)
}

// compare returns what the items change, and the sources to write. Changes beyond maxItemChanges or maxChangesLength are only
// counted. The time of the last change is no change.
func (w *itemWrite) compare() (*ItemsWritten, []authoring.Source) {
	result := &ItemsWritten{Items: make([]*WrittenItem, len(w.ids))}
	var changed []authoring.Source
	length := 0
	for n, id := range w.ids {
		item := &WrittenItem{ID: id, Outcome: ItemCreated}
		result.Items[n] = item
		source := w.batch[n].Source
		if source == nil {
			item.Outcome = ItemDeleted
			continue
		}
		var was []byte
		is := store.Encode(source)
		if before := w.stored[id]; before != nil {
			was, item.Outcome = store.Encode(w.decoder.Decode(before).Source), ItemUpdated
			if string(was) == string(is) {
				item.Outcome = ItemUnchanged
				continue
			}
		}
		for _, change := range changedMembers(was, is) {
			if slices.Equal(change.Path, []string{"attributes", "updated_at"}) {
				continue
			}
			item.ChangeCount++
			length += len(change.Before) + len(change.After)
			if length <= maxChangesLength && len(item.Changes) < maxItemChanges {
				item.Changes = append(item.Changes, &store.MemberExcerpt{Path: w.kind.InputPath(change.Path), Before: ShownValue(textOf(change.Before)), After: ShownValue(textOf(change.After))})
			}
		}
		changed = append(changed, source)
	}
	return result, changed
}

// textOf returns the text of a value; nil for an absent one.
func textOf(raw json.RawMessage) *string {
	if raw == nil {
		return nil
	}
	return new(string(raw))
}

// ShownValue returns the JSON text of a member of an import line as an item has it: the id of a link, the list of links, and nil
// for null. A text that was cut stays.
func ShownValue(text *string) *string {
	if text == nil || *text == "null" {
		return nil
	}
	names, members := store.ObjectMembers([]byte(*text))
	if len(names) != 1 || names[0] != "data" {
		return text
	}
	if _, link := store.ObjectMembers(members["data"]); link["id"] != nil {
		return new(string(link["id"]))
	}
	return new(string(members["data"]))
}

// warn adds likely mistakes to the result: those of members that the items name, and those that the stored resources did not
// have before.
func (w *itemWrite) warn(ctx context.Context, result *ItemsWritten) error {
	unchanged := func(line int) bool { return result.Items[line-1].Outcome == ItemUnchanged }
	found, err := w.likelyMistakes(ctx, w.batch, unchanged)
	if err != nil || len(found) == 0 {
		return err
	}
	var before []check.Line
	for n, id := range w.ids {
		if stored := w.stored[id]; stored != nil && w.batch[n].Source != nil && !unchanged(n+1) {
			d := w.decoder.Decode(stored)
			d.Number = n + 1
			if w.accept != nil {
				w.accept(&d)
			}
			before = append(before, d)
		}
	}
	standing := map[string]bool{} // texts of warnings that the stored resources had
	if len(before) > 0 {
		known, err := w.likelyMistakes(ctx, before, unchanged)
		if err != nil {
			return err
		}
		for _, warning := range known {
			standing[warning.Error()] = true
		}
	}
	for _, warning := range found {
		if len(result.Warnings) < MaxWarnings && (!standing[warning.Error()] || w.names(w.ids[warning.Line-1], warning.Err.Path)) {
			result.Warnings = append(result.Warnings, w.placed(warning))
		}
	}
	return nil
}

// names reports whether an item of a resource names a member of its line, or what the member is part of.
func (w *itemWrite) names(id string, path []string) bool {
	return slices.ContainsFunc(w.patches[id], func(patch []byte) bool {
		for _, name := range path {
			_, members := store.ObjectMembers(patch)
			if members == nil {
				return true
			}
			below, named := members[name]
			if !named {
				return false
			}
			patch = below
		}
		return true
	})
}

// likelyMistakes returns those of lines, but for unchanged ones.
func (w *itemWrite) likelyMistakes(ctx context.Context, batch []check.Line, unchanged func(line int) bool) (list []check.ImportError, err error) {
	known, err := check.NewStoredKeys(ctx, w.Session)
	if err != nil {
		return nil, err
	}
	keys := check.NewKeyChecker(known, "items")
	if err := keys.Add(ctx, w.Session, w.planned, func(int) bool { return true }); err != nil {
		return nil, err
	}
	add := func(warning check.ImportError) {
		if !unchanged(warning.Line) {
			list = append(list, warning)
		}
	}
	if w.mistakes != nil {
		mistakes, err := w.mistakes(ctx, w.Session, batch)
		if err != nil {
			return nil, err
		}
		for _, mistake := range mistakes {
			add(mistake)
		}
	}
	if err := keys.Add(ctx, w.Session, batch, unchanged); err != nil || !keys.Finish(nil) {
		return list, err
	}
	batches := func(do func([]check.Line) error) error { return do(batch) }
	return list, keys.Warn(ctx, batches, w.Session, add)
}
