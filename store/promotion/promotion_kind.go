package promotion

import (
	"context"

	"portico/store/authoring"
)

var PromotionKind = authoring.Kind{
	Name: "promotion", Create: func() authoring.Source { return &promotionSource{} },
	Write: writePromotions, Export: authoring.Bodies("promotion", "number"),
	Referred: true,
}

// writePromotions writes promotions. One whose line moves its end from the past
// into the future loses its codes, as by any other update.
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
	for i, resource := range sources {
		written, err := putPromotion(ctx, w, had[resource.Key()], resource.(*promotionSource), number+int64(i))
		if err != nil {
			return changed, &authoring.RowFault{Source: resource, Err: err}
		}
		if written {
			changed++
		}
	}
	return changed, nil
}
