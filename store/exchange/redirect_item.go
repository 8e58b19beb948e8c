package exchange

import (
	"context"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/sheet"
)

// RedirectItemInput is a redirect in redirectsUpsert: what changes of it. To, ProductID and CatalogNodeID replace each
// other.
type RedirectItemInput struct {
	ID            *string `json:"id,omitempty"`
	From          *string `json:"from,omitempty"`
	To            *string `json:"to,omitempty"`
	ProductID     *string `json:"productId,omitempty"`
	CatalogNodeID *string `json:"catalogNodeId,omitempty"`
	Remove        bool    `json:"remove"`
}

// SetRedirects creates, changes and removes redirects, all or none. An item without an id is the redirect of
// its path, or a new one. Nulls clear, for which another destination must be set.
func (s *Service) SetRedirects(ctx context.Context, actor store.Actor, items []*RedirectItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.RedirectKind, count: len(items),
		identify: func(ctx context.Context, in db.Session) (ids []string, faults store.Errors, err error) {
			for i, item := range items {
				if item.ID == nil && item.From == nil {
					faults = append(faults, store.Unprocessablef([]string{strconv.Itoa(i)}, "needs an id, or from, which say the redirect"))
				}
			}
			ids, _, err = identify(ctx, in, len(items), func(i int) (*string, sheet.Key) {
				return items[i].ID, sheet.RedirectKey(deref(items[i].From))
			})
			return ids, faults, err
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			items[i].patch(p)
			return p
		},
		place:  func(places []int, path []string) []string { return inItem(places, items[places[0]].place(path)) },
		remove: func(i int) bool { return items[i].Remove },
	}, dryRun)
}

// patch adds what the item changes. A destination replaces the stored one of any type.
func (item *RedirectItemInput) patch(p *itemPatch) {
	put(p, "from", "attributes.from", item.From)
	if fault := item.checkDestination(p); fault != nil {
		p.faults = append(p.faults, fault)
	}
	if item.To == nil && item.ProductID == nil && item.CatalogNodeID == nil {
		return
	}
	p.Set(nil, "attributes", "to")
	p.Set(nil, "relationships", "target")
	put(p, "to", "attributes.to", item.To)
	for kind, id := range map[string]*string{catalog.RedirectProduct: item.ProductID, catalog.RedirectNode: item.CatalogNodeID} {
		if id != nil {
			putLink(p, destinationMembers[kind], "relationships.target", kind, id)
		}
	}
}

// destinationMembers are the members of an item by the types of resources to which a redirect leads.
var destinationMembers = map[string]string{catalog.RedirectProduct: "product_id", catalog.RedirectNode: "catalog_node_id"}

// checkDestination returns an error unless the redirect has one destination: that of the item, or the stored one.
func (item *RedirectItemInput) checkDestination(p *itemPatch) *store.Error {
	given := 0
	for _, destination := range []*string{item.To, item.ProductID, item.CatalogNodeID} {
		if destination != nil {
			given++
		}
	}
	switch stored := storedDestination(p.before); {
	case given > 1 || given == 0 && stored == "":
		return store.Invalidf(nil, "needs exactly one of to, productId and catalogNodeId")
	case given == 0 && p.null(stored):
		return store.Invalidf([]string{stored}, "is the destination of the redirect; send another of to, productId and catalogNodeId, or remove: true")
	case item.To != nil && strings.Trim(*item.To, "/") == "":
		return store.Invalidf([]string{"to"}, "must be a path such as shop/cups, or a URL, got %q", *item.To)
	}
	return nil
}

// storedDestination returns the member of an item that is the destination of a stored redirect; "" if there is none.
func storedDestination(line []byte) string {
	var stored catalog.RedirectSource
	if line == nil || store.Decode(line, &stored) != nil {
		return ""
	}
	if target := stored.Relationships.Target; target.ID() != "" {
		return destinationMembers[target.Data.Type]
	}
	return "to"
}

// place returns a path of the item with the destination in the place of target.
func (item *RedirectItemInput) place(path []string) []string {
	switch {
	case path[0] != "target":
	case item.CatalogNodeID != nil:
		return []string{destinationMembers[catalog.RedirectNode]}
	case item.ProductID != nil:
		return []string{destinationMembers[catalog.RedirectProduct]}
	}
	return path
}
