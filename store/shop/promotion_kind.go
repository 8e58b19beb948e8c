package shop

import "context"

var promotionKind = kind{
	name: "promotion", create: func() source { return &promotionSource{} },
	write: (*importWriter).promotions, export: bodies("promotion", "number"),
	referred: true,
}

// promotions writes promotions. One whose line moves its end from the past
// into the future loses its codes, as by any other update.
func (w *importWriter) promotions(ctx context.Context, sources []source) (changed int, err error) {
	number, err := w.Sequence(ctx, len(sources)) // one writer of promotions at a time
	if err != nil {
		return 0, err
	}
	ids := make([]string, len(sources))
	for i, resource := range sources {
		ids[i] = resource.key()
	}
	had, err := lockPromotions(w.Tx, ctx, ids)
	if err != nil {
		return 0, err
	}
	for i, resource := range sources {
		written, err := w.putPromotion(ctx, had[resource.key()], resource.(*promotionSource), number+int64(i))
		if err != nil {
			return changed, &sourceFault{resource, err}
		}
		if written {
			changed++
		}
	}
	return changed, nil
}
