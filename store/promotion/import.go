package promotion

import (
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// Kind is the import of promotions.
var Kind = authoring.Kind{
	Name: "promotion", Create: func() authoring.Source { return &rule.Source{} },
	Write: writePromotions, Delete: deletePromotions, Export: authoring.ExportBodies("promotion", "id", "number"),
	Referred: true, Input: rule.InputLine,
	Inputs: store.PathRenames{{"schema.target_catalogs", "target_catalog_ids"}, {"schema.conditions", "item_conditions"}},
}

// deletePromotions deletes promotions with their codes, as Delete does. Their usages stay.
func deletePromotions(ctx context.Context, w *authoring.Writer, ids []string) ([]string, error) {
	if _, err := w.Sequence(ctx, 1); err != nil { // one writer of promotions at a time
		return nil, err
	}
	existing, err := rule.LockPromotions(ctx, w.Tx, ids)
	if err != nil {
		return nil, err
	}
	deleted := slices.Sorted(maps.Keys(existing))
	for _, id := range deleted {
		if err := code.Archive(ctx, w.Tx, existing[id]); err != nil {
			return nil, err
		}
	}
	return deleted, nil
}

// writePromotions writes promotions. As with any update, a promotion loses its codes if a line
// moves its end from the past into the future. A deleted promotion gets its usages back.
func writePromotions(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed []string, err error) {
	number, err := w.Sequence(ctx, len(sources)) // one writer of promotions at a time
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(sources))
	for i, resource := range sources {
		ids[i] = resource.Key()
	}
	existing, err := rule.LockPromotions(ctx, w.Tx, ids)
	if err != nil {
		return nil, err
	}
	deleted, err := code.FindArchived(ctx, w.Session, ids)
	if err != nil {
		return nil, err
	}
	for i, resource := range sources {
		source, number := resource.(*rule.Source), number+int64(i) // each its own number, if it is new
		if archived, ok := deleted[source.ID]; ok && existing[source.ID] == nil {
			if err := code.Restore(ctx, w.Tx, archived); err != nil {
				return changed, err
			}
			number, source.Epoch = archived.Number, max(source.Epoch, int(archived.Epoch)+1)
		}
		written, err := upsertPromotion(ctx, w, existing[source.ID], source, number)
		if err != nil {
			return changed, &authoring.RowError{Source: resource, Err: err}
		}
		if written {
			changed = append(changed, source.ID)
		}
	}
	return changed, nil
}
