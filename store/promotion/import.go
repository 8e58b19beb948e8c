package promotion

import (
	"context"

	"portico/store/authoring"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

var PromotionKind = authoring.Kind{
	Name: "promotion", Create: func() authoring.Source { return &rule.Source{} },
	Write: writePromotions, Export: authoring.ExportBodies("promotion", "number"),
	Referred: true,
}

// writePromotions writes promotions. One whose line moves its end from the past
// into the future loses its codes, as by any other update. One that was deleted
// gets its usages again.
func writePromotions(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed int, err error) {
	number, err := w.Sequence(ctx, len(sources)) // one writer of promotions at a time
	if err != nil {
		return 0, err
	}
	ids := make([]string, len(sources))
	for i, resource := range sources {
		ids[i] = resource.Key()
	}
	had, err := rule.LockPromotions(ctx, w.Tx, ids)
	if err != nil {
		return 0, err
	}
	deleted, err := code.FindArchived(ctx, w.Session, ids)
	if err != nil {
		return 0, err
	}
	for i, resource := range sources {
		source, number := resource.(*rule.Source), number+int64(i)
		if of, kept := deleted[source.ID]; kept && had[source.ID] == nil {
			if err := code.Restore(ctx, w.Tx, of); err != nil {
				return changed, err
			}
			number, source.Epoch = of.Number, max(source.Epoch, int(of.Epoch)+1)
		}
		written, err := putPromotion(ctx, w, had[source.ID], source, number)
		if err != nil {
			return changed, &authoring.RowError{Source: resource, Err: err}
		}
		if written {
			changed++
		}
	}
	return changed, nil
}
