package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
)

// importBatch writes a batch in one transaction. It returns the number of new or changed
// resources, and by type of those that overwritePolicy skips, without stock transactions.
func (s *Service) importBatch(ctx context.Context, actor store.Actor, batch []check.Line, c *checkedImport, limit *authoring.AuditLimit) (changed int, skipped map[string]int, err error) {
	if len(batch) == 0 {
		return 0, nil, nil
	}
	changed, skipped, err = s.writeBatch(ctx, actor, batch, c, limit, false)
	if errors.Is(err, authoring.ErrOneByOne) { // find the failing row
		changed, skipped, err = s.writeBatch(ctx, actor, batch, c, limit, true)
	}
	return changed, skipped, err
}

// writeBatch is importBatch. With oneByOne each row is a statement, so that an error is *authoring.RowError; without, a wrong row
// may return authoring.ErrOneByOne.
func (s *Service) writeBatch(ctx context.Context, actor store.Actor, checked []check.Line, c *checkedImport, limit *authoring.AuditLimit, oneByOne bool) (changed int, skipped map[string]int, err error) {
	err = s.writeAll(ctx, actor, limit, func(ctx context.Context, w *authoring.Writer) error {
		changed, skipped, w.OneByOne = 0, map[string]int{}, oneByOne
		batch, err := c.merger.current(ctx, w, checked)
		if err != nil {
			return err
		}
		if err := catalog.SetTimes(ctx, w.Session, w.Now, sourcesOf(batch)); err != nil {
			return err
		}
		for name, sources := range sourcesByKind(batch) {
			kind := check.KindByName(name)
			all := len(sources)
			sources, err := c.policy.writable(ctx, w, name, sources)
			if err != nil {
				return err
			}
			if name != "stock_transaction" { // counted by the check
				skipped[name] = all - len(sources)
			}
			if len(sources) == 0 {
				continue
			}
			n, err := w.WriteAll(ctx, kind, sources)
			if fault := rowImportError(batch, err); fault != nil {
				return fault
			}
			if err != nil {
				return fmt.Errorf("write a batch of %s: %w", name, err)
			}
			changed += n
			w.Revised = w.Revised || n > 0 && kind.Published
		}
		return nil
	})
	return changed, skipped, err
}

// recordedOneByOne is how many resources of an import the audit log shows one by one. An import of a new shop would
// store them twice.
const recordedOneByOne = 1000

// deleteBatch is the most resources that a transaction deletes.
const deleteBatch = 500

// deleteAll deletes what the plan says, and counts it in the report.
func (s *Service) deleteAll(ctx context.Context, actor store.Actor, p *deletionPlan, report *ImportReport, limit *authoring.AuditLimit) error {
	return p.each(func(kind authoring.Kind, ids []string) error {
		return store.Chunked(ids, deleteBatch, func(ids []string) error {
			deleted := 0
			err := s.writeAll(ctx, actor, limit, func(ctx context.Context, w *authoring.Writer) (err error) {
				deleted, err = w.DeleteAll(ctx, kind, ids)
				w.Revised = deleted > 0 && kind.Published
				return err
			})
			if err != nil {
				return fmt.Errorf("delete %s: %w", kind.Name, err)
			}
			report.Deleted[kind.Name] += deleted
			return nil
		})
	})
}

// writeAll writes in one transaction, and the parts that it leaves in further ones.
func (s *Service) writeAll(ctx context.Context, actor store.Actor, limit *authoring.AuditLimit, write func(context.Context, *authoring.Writer) error) error {
	later, err := s.writeTx(ctx, actor, limit, write)
	for _, part := range later {
		if err == nil {
			_, err = s.writeTx(ctx, actor, limit, part)
		}
	}
	return err
}

// writeTx writes in one transaction and returns the parts left for further ones.
func (s *Service) writeTx(ctx context.Context, actor store.Actor, limit *authoring.AuditLimit, write func(context.Context, *authoring.Writer) error) (later []func(context.Context, *authoring.Writer) error, err error) {
	err = s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		w := &authoring.Writer{Tx: t, DB: s.db, Limit: limit}
		if err := t.PrepareBulk(ctx); err != nil {
			return err
		}
		if err := write(ctx, w); err != nil {
			return err
		}
		later = w.Deferred()
		if err := w.Finish(ctx); err != nil {
			return err
		}
		return s.stock.PublishImport(ctx, t, w.StockChanged)
	})
	return later, err
}

// rowImportError returns the *ImportErrors of the line whose row a write refused; nil for an error that is not of a row.
func rowImportError(batch []check.Line, err error) error {
	var found *authoring.RowError
	if !errors.As(err, &found) {
		return nil
	}
	var fault *store.Error
	if !errors.As(found.Err, &fault) {
		return nil
	}
	for _, d := range slices.Backward(batch) {
		if d.Source == found.Source {
			return &ImportErrors{Errors: []check.ImportError{{Line: d.Number, Type: d.Kind, Err: fault}}, Count: 1}
		}
	}
	return nil
}

// sourcesByKind yields the sources of a batch by type in a fixed order; of two with one id the
// later wins.
func sourcesByKind(batch []check.Line) func(func(string, []authoring.Source) bool) {
	groups := map[string][]authoring.Source{}
	places := map[[2]string]int{}
	var kinds []string
	for _, d := range batch {
		if _, known := groups[d.Kind]; !known {
			kinds = append(kinds, d.Kind)
		}
		name := [2]string{d.Kind, d.Source.Key()}
		if place, twice := places[name]; twice {
			groups[d.Kind][place] = d.Source
			continue
		}
		places[name] = len(groups[d.Kind])
		groups[d.Kind] = append(groups[d.Kind], d.Source)
	}
	slices.Sort(kinds) // the same lock order everywhere
	return func(yield func(string, []authoring.Source) bool) {
		for _, kind := range kinds {
			if !yield(kind, groups[kind]) {
				return
			}
		}
	}
}
