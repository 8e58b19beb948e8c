package exchange

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/exchange/check"
)

// mergedResource is what a batch of merged lines changes of a resource.
type mergedResource struct {
	lines   []int  // indexes in the batch
	settled bool   // nothing to merge: the lines were merged onto what is stored, or the first one replaces it
	stored  []byte // the stored line if not settled; nil if the resource does not exist
}

// current returns a batch as the transaction of w writes it: lines whose resource another write changed after they were
// merged are merged onto what is stored now. It locks the resources. m may be nil. Each line has a Source.
func (m *lineMerger) current(ctx context.Context, w *authoring.Writer, batch []check.Line) ([]check.Line, error) {
	byKind := m.mergedResources(batch)
	if len(byKind) == 0 {
		return batch, nil
	}
	// This locks the sequence row, as mutations do, so that none of them creates one of the resources.
	if _, err := w.Sequence(ctx, 1); err != nil {
		return nil, err
	}
	batch = slices.Clone(batch)
	for _, name := range slices.Sorted(maps.Keys(byKind)) { // the same lock order everywhere
		if err := m.readCurrent(ctx, w, check.KindByName(name), batch, byKind[name]); err != nil {
			return nil, err
		}
		for _, id := range slices.Sorted(maps.Keys(byKind[name])) {
			if err := m.mergeAgain(w, batch, byKind[name][id]); err != nil {
				return nil, err
			}
		}
	}
	return batch, nil
}

// mergedResources returns the resources that merged lines of a batch change, by kind and id.
func (m *lineMerger) mergedResources(batch []check.Line) map[string]map[string]*mergedResource {
	byKind := map[string]map[string]*mergedResource{}
	for _, d := range batch {
		if d.Patch != nil && byKind[d.Kind] == nil {
			byKind[d.Kind] = map[string]*mergedResource{}
		}
		if d.Patch != nil && byKind[d.Kind][d.Source.Key()] == nil {
			byKind[d.Kind][d.Source.Key()] = &mergedResource{}
		}
	}
	for i, d := range batch {
		if r := byKind[d.Kind][d.Source.Key()]; r != nil {
			r.lines = append(r.lines, i)
		}
	}
	return byKind
}

// readCurrent locks and reads resources. Only lines that changed are decoded and kept in memory.
func (m *lineMerger) readCurrent(ctx context.Context, w *authoring.Writer, kind authoring.Kind, batch []check.Line, resources map[string]*mergedResource) error {
	expected := map[uint64]*mergedResource{} // by the hash of the line that their first line was merged onto
	for _, r := range resources {
		switch first := batch[r.lines[0]]; {
		case first.Patch == nil: // it replaces the resource
			r.settled = true
		case first.Patch.Before != 0:
			expected[first.Patch.Before] = r
		}
	}
	err := eachLocked(ctx, w, kind, slices.Collect(maps.Keys(resources)), func(line []byte) {
		if r := expected[m.hash(line)]; r != nil {
			r.settled = true
		} else if d := m.decoder.Decode(line); d.Source != nil && resources[d.Source.Key()] != nil {
			resources[d.Source.Key()].stored = bytes.Clone(line)
		}
	})
	for _, r := range resources {
		r.settled = r.settled || r.stored == nil && batch[r.lines[0]].Patch.Before == 0
	}
	return err
}

// mergeAgain merges the lines of a resource onto what is stored, if that is not what they were merged onto. The error is
// *ImportErrors if the result is invalid.
func (m *lineMerger) mergeAgain(w *authoring.Writer, batch []check.Line, r *mergedResource) error {
	if r.settled {
		return nil
	}
	line := r.stored
	for _, i := range r.lines {
		d := &batch[i]
		if d.Patch == nil {
			line = store.Encode(d.Source)
			continue
		}
		line = mergedLine(m.decoder, w.Now, line, d.Patch.Text, d.Row.IsRow)
		merged := m.decoder.Decode(line)
		if len(merged.Errors) > 0 {
			errs := &ImportErrors{Count: len(merged.Errors)}
			if r.stored == nil { // but it existed when the lines were merged, else readCurrent had settled it
				merged.Errors, errs.Count = store.Errors{{Code: store.Conflict, Detail: "The resource was deleted during the import. Import again, without the line."}}, 1
			}
			for _, e := range merged.Errors {
				errs.Errors = append(errs.Errors, check.ImportError{Line: d.Number, Type: d.Kind, Err: e})
			}
			return errs
		}
		d.Source = merged.Source
	}
	return nil
}
