package exchange

import (
	"context"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// PricebookItemInput is a price book in pricebooksUpsert: what changes of it.
type PricebookItemInput struct {
	ID          *string `json:"id,omitempty"`
	Name        *string `json:"name,omitempty"`
	Description *string `json:"description,omitempty"`
}

// UpsertPricebooks creates price books and changes members of existing ones, all or none. An item without an id is a
// new price book.
func (s *Service) UpsertPricebooks(ctx context.Context, actor store.Actor, items []*PricebookItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.PricebookKind, count: len(items),
		identify: func(context.Context, db.Session) ([]string, store.Errors, error) {
			return ownOrNewIDs(len(items), func(i int) *string { return items[i].ID }), nil, nil
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			put(p, "name", "attributes.name", items[i].Name)
			put(p, "description", "attributes.description", items[i].Description)
			return p
		},
	}, dryRun)
}
