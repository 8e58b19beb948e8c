package exchange

import (
	"context"
	"strconv"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/sheet"
)

// SynonymItemInput is a synonym in synonymsUpsert: what changes of it.
type SynonymItemInput struct {
	ID     *string              `json:"id,omitempty"`
	Kind   *catalog.SynonymKind `json:"kind,omitempty"`
	Locale *string              `json:"locale,omitempty"`
	Term   *string              `json:"term,omitempty"`
	Terms  []string             `json:"terms,omitzero"`
	Remove bool                 `json:"remove"`
}

// SetSynonyms creates, changes and removes synonyms, all or none. An item without an id is the synonym of its
// locale that has its term, or without a term its terms in any order, or a new one.
func (s *Service) SetSynonyms(ctx context.Context, actor store.Actor, items []*SynonymItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.SynonymsKind, count: len(items),
		identify: func(ctx context.Context, in db.Session) (ids []string, faults store.Errors, err error) {
			for i, item := range items {
				if item.ID == nil && item.Term == nil && len(item.Terms) == 0 {
					faults = append(faults, store.Unprocessablef([]string{strconv.Itoa(i)}, "needs an id, a term or terms, which say the synonym"))
				}
			}
			ids, _, err = identify(ctx, in, len(items), func(i int) (*string, sheet.Key) {
				return items[i].ID, sheet.SynonymKey(catalog.CanonicalTag(deref(items[i].Locale)), deref(items[i].Term), items[i].Terms)
			})
			return ids, faults, err
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			items[i].patch(p)
			return p
		},
		remove: func(i int) bool { return items[i].Remove },
	}, dryRun)
}

// patch adds what the item changes. A new synonym without a kind is one-way if it has a term.
func (item *SynonymItemInput) patch(p *itemPatch) {
	kind := item.Kind
	if kind == nil && p.before == nil {
		kind = new(catalog.SynonymEquivalent)
		if item.Term != nil {
			*kind = catalog.SynonymOneWay
		}
	}
	put(p, "kind", "attributes.kind", kind)
	put(p, "locale", "attributes.locale", item.Locale)
	put(p, "term", "attributes.term", item.Term)
	putList(p, "terms", "attributes.terms", item.Terms)
}

// deref returns a value, or the zero value for nil.
func deref[T any](value *T) (v T) {
	if value != nil {
		v = *value
	}
	return v
}
