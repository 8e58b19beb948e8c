package promotion

import (
	"context"

	"portico/store/authoring"
)

var PromotionKind = authoring.Kind{
	Name: "promotion", Create: func() authoring.Source { return &promotionSource{} },
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
	had, err := lockPromotions(ctx, w.Tx, ids)
	if err != nil {
		return 0, err
	}
	deleted, err := archived(ctx, w.Session, ids)
	if err != nil {
		return 0, err
	}
	for i, resource := range sources {
		source, number := resource.(*promotionSource), number+int64(i)
		if of, kept := deleted[source.ID]; kept && had[source.ID] == nil {
			if err := restore(ctx, w.Tx, of); err != nil {
				return changed, err
			}
			number, source.Epoch = of.number, max(source.Epoch, int(of.epoch)+1)
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
