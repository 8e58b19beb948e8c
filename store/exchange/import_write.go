package exchange

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/stock"
)

// importBatch writes a batch in one transaction and tells how many of its
// resources were new or different, and how many were left, by type.
func (s *ExchangeService) importBatch(ctx context.Context, actor store.Actor, batch []decoded, kept *keptLive) (changed int, left map[string]int, err error) {
	if len(batch) == 0 {
		return 0, nil, nil
	}
	changed, left, err = s.importAtOnce(ctx, actor, batch, kept, false)
	if errors.Is(err, authoring.ErrOneByOne) { // to find out which of them
		changed, left, err = s.importAtOnce(ctx, actor, batch, kept, true)
	}
	return changed, left, err
}

func (s *ExchangeService) importAtOnce(ctx context.Context, actor store.Actor, batch []decoded, kept *keptLive, oneByOne bool) (changed int, left map[string]int, err error) {
	later, err := s.importOne(ctx, actor, func(ctx context.Context, w *authoring.Writer) error {
		changed, left, w.OneByOne = 0, map[string]int{}, oneByOne
		for name, sources := range byKind(batch) {
			kind := kindOf(name)
			all := len(sources)
			sources, err := kept.writable(ctx, w, name, sources)
			if err != nil {
				return err
			}
			if name != "stock_transaction" { // whose check has counted them
				left[name] = all - len(sources)
			}
			if len(sources) == 0 {
				continue
			}
			n, err := kind.Write(ctx, w, sources)
			if fault := faultOf(batch, err); fault != nil {
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
	for _, part := range later {
		if err == nil {
			_, err = s.importOne(ctx, actor, part)
		}
	}
	return changed, left, err
}

// importOne writes in one transaction, and returns what that has left for
// others.
func (s *ExchangeService) importOne(ctx context.Context, actor store.Actor, write func(context.Context, *authoring.Writer) error) (left []func(context.Context, *authoring.Writer) error, err error) {
	err = s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		w := &authoring.Writer{Tx: t, DB: s.db}
		if err := t.PrepareBulk(ctx); err != nil {
			return err
		}
		if err := write(ctx, w); err != nil {
			return err
		}
		left = w.Left()
		if err := w.Announce(ctx); err != nil {
			return err
		}
		return stock.TellImported(ctx, s.stock, t, w.Stocked)
	})
	return left, err
}

// faultOf names the line of what only the write could find wrong; nil for any
// other error.
func faultOf(batch []decoded, err error) error {
	var found *authoring.RowFault
	if !errors.As(err, &found) {
		return nil
	}
	var fault *store.Error
	if !errors.As(found.Err, &fault) {
		return nil
	}
	for _, d := range slices.Backward(batch) {
		if d.source == found.Source {
			return &ImportFaults{Faults: []ImportFault{{d.line, d.kind, fault}}, Count: 1}
		}
	}
	return nil
}

// byKind yields a batch's sources by type, in a fixed order; of two with one
// id the later counts.
func byKind(batch []decoded) func(func(string, []authoring.Source) bool) {
	groups := map[string][]authoring.Source{}
	places := map[[2]string]int{}
	var kinds []string
	for _, d := range batch {
		if _, known := groups[d.kind]; !known {
			kinds = append(kinds, d.kind)
		}
		name := [2]string{d.kind, d.source.Key()}
		if place, twice := places[name]; twice {
			groups[d.kind][place] = d.source
			continue
		}
		places[name] = len(groups[d.kind])
		groups[d.kind] = append(groups[d.kind], d.source)
	}
	slices.Sort(kinds) // one order of locks everywhere
	return func(yield func(string, []authoring.Source) bool) {
		for _, kind := range kinds {
			if !yield(kind, groups[kind]) {
				return
			}
		}
	}
}
