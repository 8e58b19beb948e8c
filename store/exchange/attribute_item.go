package exchange

import (
	"context"
	"strconv"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// AttributeItemInput declares an attribute in attributesUpsert, or is what changes of its declaration.
type AttributeItemInput struct {
	Key        string                 `json:"key"`
	Label      *string                `json:"label,omitempty"`
	Labels     []*AttributeLabelInput `json:"labels,omitzero"`
	Type       *catalog.AttributeType `json:"type,omitempty"`
	Unit       *string                `json:"unit,omitempty"`
	Filterable *bool                  `json:"filterable,omitempty"`
	Searchable *bool                  `json:"searchable,omitempty"`
	Sortable   *bool                  `json:"sortable,omitempty"`
}

// AttributeLabelInput is the label of an attribute in a language; nil keeps it, unless it is among the nulls.
type AttributeLabelInput struct {
	Locale string  `json:"locale"`
	Label  *string `json:"label,omitempty"`
}

// DeclareAttributes declares attributes and changes declarations, all or none. The type of a declared
// attribute stays.
func (s *Service) DeclareAttributes(ctx context.Context, actor store.Actor, items []*AttributeItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.AttributeKind, count: len(items),
		identify: func(context.Context, db.Session) ([]string, store.Errors, error) {
			keys := make([]string, len(items))
			for i, item := range items {
				keys[i] = item.Key
				if canonical, ok := store.CanonicalID(item.Key); ok {
					keys[i] = canonical
				}
			}
			return keys, nil, nil
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			items[i].patch(p)
			return p
		},
		place: func(places []int, path []string) []string {
			if path[0] == "labels" {
				path = elementPath(path, items[places[0]].Labels, labelTag, "locale")
			}
			return inItem(places, path)
		},
	}, dryRun)
}

// patch adds what the item changes. Labels that it does not name stay.
func (item *AttributeItemInput) patch(p *itemPatch) {
	put(p, "label", "attributes.label", item.Label)
	put(p, "type", "attributes.attribute_type", item.Type)
	put(p, "unit", "attributes.unit", item.Unit)
	put(p, "filterable", "attributes.filterable", item.Filterable)
	put(p, "searchable", "attributes.searchable", item.Searchable)
	put(p, "sortable", "attributes.sortable", item.Sortable)
	if item.Labels == nil && p.null("labels") {
		p.Set(nil, "attributes", "labels")
	}
	refuseRepeated(p, "labels", item.Labels, labelTag)
	for i, label := range item.Labels {
		if tag := catalog.CanonicalTag(label.Locale); label.Label != nil {
			p.Set(*label.Label, "attributes", "labels", tag)
		} else if p.null("labels." + strconv.Itoa(i) + ".label") {
			p.Set(nil, "attributes", "labels", tag)
		}
	}
}

// labelTag is the key of a label in the line.
func labelTag(l *AttributeLabelInput) string { return catalog.CanonicalTag(l.Locale) }
