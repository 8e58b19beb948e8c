package exchange

import (
	"context"
	"strconv"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/sheet"
)

// PriceModifierItemInput is a price modifier in priceModifiersUpsert: what changes of it. Amounts change the currencies that
// they name.
type PriceModifierItemInput struct {
	ID               *string                    `json:"id,omitempty"`
	Name             *string                    `json:"name,omitempty"`
	ModifierType     *catalog.PriceModifierType `json:"modifierType,omitempty"`
	Amounts          []*PriceAmountInput        `json:"amounts,omitzero"`
	RemoveCurrencies []string                   `json:"removeCurrencies,omitzero"`
}

// UpsertModifiers creates price modifiers and changes members of existing ones, all or none. An item without an id is
// the price modifier of its name, or a new one.
func (s *Service) UpsertModifiers(ctx context.Context, actor store.Actor, items []*PriceModifierItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.ModifierKind, count: len(items),
		identify: func(ctx context.Context, in db.Session) (ids []string, faults store.Errors, err error) {
			for i, item := range items {
				if item.ID == nil && deref(item.Name) == "" {
					faults = append(faults, store.Unprocessablef([]string{strconv.Itoa(i)}, "needs an id or a name, which say the price modifier"))
				}
			}
			ids, _, err = identify(ctx, in, len(items), func(i int) (*string, sheet.Key) {
				return items[i].ID, sheet.Key{Kind: "price_modifier", Value: deref(items[i].Name)}
			})
			return ids, faults, err
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			put(p, "name", "attributes.name", items[i].Name)
			put(p, "modifier_type", "attributes.modifier_type", items[i].ModifierType)
			p.amounts(items[i].Amounts, items[i].RemoveCurrencies, "attributes", "currencies")
			return p
		},
		place: func(places []int, path []string) []string {
			return inItem(places, amountPath(path, items[places[0]].Amounts))
		},
	}, dryRun)
}
