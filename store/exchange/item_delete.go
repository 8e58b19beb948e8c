package exchange

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
	"portico/store/exchange/sheet"
)

// deletedSet describes the resources that a mutation deletes.
type deletedSet struct {
	kind   authoring.Kind
	table  string
	noun   string // such as: the id of a file
	member string // of the input, which lists them
	items  []deletedItem

	// check returns what must not be deleted, and warns of what refers to the resources, by their position in the
	// input. Paths begin with the position.
	check func(ctx context.Context, in db.Session, positions map[string]int) (faults, warnings store.Errors, err error)
}

// deletedItem is a resource to delete.
type deletedItem struct {
	id    string
	at    int    // its position in the input
	shown string // what the input has, for errors
}

// deleteItems deletes resources, all or none. Unknown ones are NOT_FOUND. A dry run deletes nothing. find
// returns what to delete.
func (s *Service) deleteItems(ctx context.Context, actor store.Actor, dryRun bool, find func(context.Context, db.Session) (*deletedSet, error)) (*ItemsWritten, error) {
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*ItemsWritten, error) {
		w := &authoring.Writer{Tx: t, DB: s.db}
		if _, err := w.Sequence(ctx, 1); err != nil {
			return nil, err
		}
		set, err := find(ctx, w.Session)
		if err != nil {
			return nil, err
		}
		result, positions, err := set.read(ctx, w)
		if err != nil {
			return nil, err
		}
		result.Warnings, err = set.uses(ctx, w.Session, positions)
		if err != nil || dryRun {
			return result, err
		}
		n, err := w.DeleteAll(ctx, set.kind, slices.Sorted(maps.Keys(positions)))
		if err != nil {
			return nil, err
		}
		w.Revised = n > 0
		return result, w.Finish(ctx)
	})
}

// read returns the resources, each once, and their positions in the input.
func (set *deletedSet) read(ctx context.Context, w *authoring.Writer) (*ItemsWritten, map[string]int, error) {
	ids := make([]string, len(set.items))
	for i, item := range set.items {
		ids[i] = item.id
	}
	known, err := w.Existing(ctx, set.table, store.Unique(store.ValidIDs(ids)))
	if err != nil {
		return nil, nil, err
	}
	result, positions := &ItemsWritten{}, map[string]int{}
	var faults store.Errors
	for _, item := range set.items {
		if !known[item.id] {
			faults = append(faults, &store.Error{Code: store.NotFound, Path: []string{strconv.Itoa(item.at)}, Detail: "is not " + set.noun + ": " + item.shown})
			continue
		}
		if _, twice := positions[item.id]; !twice {
			positions[item.id] = item.at
			result.Items = append(result.Items, &WrittenItem{ID: item.id, Outcome: ItemDeleted})
		}
	}
	return result, positions, itemErrors(set.member, faults)
}

// uses returns warnings of what refers to the resources, or what must not be deleted as an error.
func (set *deletedSet) uses(ctx context.Context, in db.Session, positions map[string]int) (placed store.Errors, err error) {
	if set.check == nil {
		return nil, nil
	}
	faults, warnings, err := set.check(ctx, in, positions)
	if err == nil {
		err = itemErrors(set.member, faults)
	}
	for _, warning := range warnings {
		placed = append(placed, warning.At(set.member))
	}
	placed = placed.ByIndex()
	return placed[:min(len(placed), MaxWarnings)], err
}

// deleteByID is deleteItems for resources that the input lists by id.
func (s *Service) deleteByID(ctx context.Context, actor store.Actor, set deletedSet, ids []string, dryRun bool) (*ItemsWritten, error) {
	if err := checkItemCount("ids", len(ids)); err != nil {
		return nil, err
	}
	set.member = "ids"
	for i, id := range ids {
		set.items = append(set.items, deletedItem{id, i, strconv.Quote(store.Abbreviate(id))})
	}
	return s.deleteItems(ctx, actor, dryRun, func(context.Context, db.Session) (*deletedSet, error) { return &set, nil })
}

// DeleteProducts deletes products by id, all or none. Their stock and prices, and their places in nodes,
// stay. Unknown ids are NOT_FOUND. The result warns of what refers to the products.
func (s *Service) DeleteProducts(ctx context.Context, actor store.Actor, ids []string, dryRun bool) (*ItemsWritten, error) {
	return s.deleteByID(ctx, actor, deletedSet{kind: catalog.ProductKind, table: "product", noun: "the id of a product", check: productUses}, ids, dryRun)
}

// DeleteFiles deletes files by id, all or none. Unknown ids are NOT_FOUND. The result warns of products and nodes that
// show them, for which it reads all of those.
func (s *Service) DeleteFiles(ctx context.Context, actor store.Actor, ids []string, dryRun bool) (*ItemsWritten, error) {
	scan := usageScan{wanted: store.SetOf(ids), kinds: productsAndNodes(), uses: func(source authoring.Source) []string {
		return source.(interface{ FileIDs() []string }).FileIDs()
	}}
	if err := s.scan(ctx, &scan); err != nil {
		return nil, err
	}
	return s.deleteByID(ctx, actor, deletedSet{kind: catalog.FileKind, table: "file", noun: "the id of a file", check: scan.warn}, ids, dryRun)
}

// DeleteModifiers deletes price modifiers by id, all or none. Unknown ids are NOT_FOUND. The result warns of products that
// use their names, unless another price modifier has the name. It reads all products.
func (s *Service) DeleteModifiers(ctx context.Context, actor store.Actor, ids []string, dryRun bool) (*ItemsWritten, error) {
	scan := usageScan{wanted: store.SetOf(ids), kinds: []authoring.Kind{catalog.ProductKind}}
	if err := s.db.Snapshot(ctx, func(in db.Session) error {
		deleted, kept := map[string][]string{}, map[string]bool{} // names
		if err := eachStored(ctx, in, catalog.ModifierKind, nil, func(d check.Line, _ []byte) {
			modifier := d.Source.(*catalog.ModifierSource)
			if name := modifier.Attributes.Name; scan.wanted[modifier.ID] {
				deleted[name] = append(deleted[name], modifier.ID)
			} else {
				kept[name] = true
			}
		}); err != nil {
			return err
		}
		scan.uses = func(source authoring.Source) (used []string) {
			for _, name := range store.Unique(source.(*catalog.ProductSource).Attributes.PriceModifiers) {
				if !kept[name] {
					used = append(used, deleted[name]...)
				}
			}
			return used
		}
		return scan.all(ctx, in)
	}); err != nil {
		return nil, err
	}
	return s.deleteByID(ctx, actor, deletedSet{kind: catalog.ModifierKind, table: "price_modifier", noun: "the id of a price modifier", check: scan.warn}, ids, dryRun)
}

// DeleteAttributes deletes declarations of attributes by key, all or none. Unknown keys are NOT_FOUND, and attributes of which
// products or nodes have values are UNPROCESSABLE. It reads all of those.
func (s *Service) DeleteAttributes(ctx context.Context, actor store.Actor, keys []string, dryRun bool) (*ItemsWritten, error) {
	scan := usageScan{wanted: store.SetOf(keys), kinds: productsAndNodes(), uses: func(source authoring.Source) []string {
		return slices.Sorted(maps.Keys(source.(catalog.Attributed).OwnAttributes()))
	}}
	if err := s.scan(ctx, &scan); err != nil {
		return nil, err
	}
	return s.deleteByID(ctx, actor, deletedSet{kind: catalog.AttributeKind, table: "attribute", noun: "the key of an attribute", check: scan.refuse}, keys, dryRun)
}

// DeletePricebooks deletes price books by id, all or none. Unknown ids are NOT_FOUND, and price books that have prices or
// that catalogs use are UNPROCESSABLE.
func (s *Service) DeletePricebooks(ctx context.Context, actor store.Actor, ids []string, dryRun bool) (*ItemsWritten, error) {
	return s.deleteByID(ctx, actor, deletedSet{kind: catalog.PricebookKind, table: "pricebook", noun: "the id of a price book", check: pricebookUses}, ids, dryRun)
}

// DeleteNodes deletes nodes by id, all or none. Their products stay. Unknown ids are NOT_FOUND, and nodes that
// have nodes below them which stay are UNPROCESSABLE, as are nodes with more than 10,000
// products together.
func (s *Service) DeleteNodes(ctx context.Context, actor store.Actor, ids []string, dryRun bool) (*ItemsWritten, error) {
	kind := catalog.NodeKind
	kind.Delete = catalog.RemoveNodes // in this transaction; an import detaches products in later ones
	return s.deleteByID(ctx, actor, deletedSet{kind: kind, table: "node", noun: "the id of a node", check: nodeUses}, ids, dryRun)
}

// DeleteHierarchies deletes hierarchies by id, all or none. Unknown ids are NOT_FOUND, and hierarchies that have nodes or
// that catalogs include are UNPROCESSABLE.
func (s *Service) DeleteHierarchies(ctx context.Context, actor store.Actor, ids []string, dryRun bool) (*ItemsWritten, error) {
	return s.deleteByID(ctx, actor, deletedSet{kind: catalog.HierarchyKind, table: "hierarchy", noun: "the id of a hierarchy", check: hierarchyUses}, ids, dryRun)
}

// PriceKeyInput says which price pricesDelete deletes: by its id, or by its price book and SKU.
type PriceKeyInput struct {
	ID          *string `json:"id,omitempty"`
	PricebookID *string `json:"pricebookId,omitempty"`
	SKU         *string `json:"sku,omitempty"`
}

// DeletePrices deletes prices, with their sales, all or none. Unknown ones are NOT_FOUND. Of several prices of a
// SKU in a price book it deletes all.
func (s *Service) DeletePrices(ctx context.Context, actor store.Actor, items []*PriceKeyInput, dryRun bool) (*ItemsWritten, error) {
	if err := checkItemCount("items", len(items)); err != nil {
		return nil, err
	}
	return s.deleteItems(ctx, actor, dryRun, func(ctx context.Context, in db.Session) (*deletedSet, error) {
		set := &deletedSet{kind: catalog.PriceKind, table: "price", noun: "a price", member: "items"}
		keys := make([]sheet.Key, len(items))
		var faults store.Errors
		for i, item := range items {
			switch {
			case item.ID != nil:
			case item.PricebookID == nil || item.SKU == nil:
				faults = append(faults, store.Unprocessablef([]string{strconv.Itoa(i)}, "needs an id, or a pricebookId and a sku, which say the price"))
			default:
				keys[i] = sheet.Key{Kind: "product-price", In: store.LocalID(*item.PricebookID), Value: *item.SKU}
			}
		}
		if len(faults) > 0 {
			return nil, itemErrors("items", faults)
		}
		stored, err := storedByKey(ctx, in, keys)
		for i, item := range items {
			if item.ID != nil {
				set.items = append(set.items, deletedItem{store.LocalID(*item.ID), i, strconv.Quote(store.Abbreviate(*item.ID))})
				continue
			}
			shown := fmt.Sprintf("there is none of the SKU %q in the price book %q", store.Abbreviate(*item.SKU), store.Abbreviate(*item.PricebookID))
			found := stored[keys[i]]
			if len(found) == 0 {
				found = []string{""} // no id
			}
			for _, id := range found {
				set.items = append(set.items, deletedItem{id, i, shown})
			}
		}
		return set, err
	})
}

// useCounts has what refers to each of some resources, by their ids.
type useCounts map[string]*store.Referrers

func (c useCounts) add(id, kind, user string) {
	if c[id] == nil {
		c[id] = &store.Referrers{}
	}
	c[id].Add(store.AuditKind(kind), user)
}

// at returns an error or warning for each resource that is used, by its position. The format gets its uses.
func (c useCounts) at(positions map[string]int, format string) (list store.Errors) {
	for id, i := range positions {
		if use := c[id]; use != nil {
			list = append(list, use.InUse([]string{strconv.Itoa(i)}, format))
		}
	}
	return list
}

// usageScan counts the resources that use some others. It reads all of its kinds, in a snapshot: the transaction that
// deletes keeps others waiting.
type usageScan struct {
	wanted   map[string]bool                 // ids of the used ones
	kinds    []authoring.Kind                // that can use them
	uses     func(authoring.Source) []string // the distinct resources that a source of the kinds uses
	found    useCounts                       // the result
	revision int64                           // of the snapshot
}

// productsAndNodes are the kinds of what shows files and has attributes.
func productsAndNodes() []authoring.Kind {
	nodes := catalog.NodeKind
	nodes.Export = catalog.ExportNodesWithoutProducts
	return []authoring.Kind{catalog.ProductKind, nodes}
}

// scan runs a scan in a snapshot.
func (s *Service) scan(ctx context.Context, scan *usageScan) error {
	return s.db.Snapshot(ctx, func(in db.Session) error { return scan.all(ctx, in) })
}

// all counts the uses of all kinds.
func (u *usageScan) all(ctx context.Context, in db.Session) (err error) {
	u.found = useCounts{}
	u.revision, _, err = db.One(ctx, in, db.Scalar[int64], `SELECT value FROM counter WHERE name = 'revision'`)
	for _, kind := range u.kinds {
		if err == nil {
			err = u.read(ctx, in, kind, nil)
		}
	}
	return err
}

// read counts those of some resources of a kind; nil for all.
func (u *usageScan) read(ctx context.Context, in db.Session, kind authoring.Kind, only []string) error {
	return eachStored(ctx, in, kind, only, func(d check.Line, _ []byte) {
		for _, id := range u.uses(d.Source) {
			if u.wanted[id] {
				u.found.add(id, kind.Name, d.Source.Key())
			}
		}
	})
}

// warn is the check of resources that others may name although they do not exist.
func (u *usageScan) warn(_ context.Context, _ db.Session, positions map[string]int) (faults, warnings store.Errors, err error) {
	return nil, u.found.at(positions, "is still used by %s"), nil
}

// refuse is the check of resources that must exist while others use them. If none was in use, it reads what was written since
// the snapshot, or all if that is not known.
func (u *usageScan) refuse(ctx context.Context, in db.Session, positions map[string]int) (faults, warnings store.Errors, err error) {
	if len(u.found) == 0 {
		written, complete, err := authoring.ChangedSince(ctx, in, u.revision)
		if err != nil {
			return nil, nil, err
		}
		for _, kind := range u.kinds {
			only := written[kind.Name]
			if !complete {
				only = nil
			}
			if !complete || len(only) > 0 {
				if err := u.read(ctx, in, kind, only); err != nil {
					return nil, nil, err
				}
			}
		}
	}
	return u.found.at(positions, "cannot be deleted: it is used by %s; change or delete that first"), nil, nil
}

// productUse is a query of the resources of a kind that refer to the products of $in: product and resource.
type productUse struct{ kind, sql string }

var productUsesSQL = []productUse{
	{"product", `SELECT parent_id, id FROM product WHERE parent_id <> '' AND parent_id IN ($in) ORDER BY id`},
	{"product", `SELECT component_id, product_id FROM product_component WHERE component_id IN ($in) ORDER BY product_id`},
	{"node", `SELECT product_id, node_id FROM node_product WHERE product_id IN ($in) ORDER BY node_id`},
	{"product-price", `SELECT product.id, price.id FROM product JOIN price ON price.sku = product.sku WHERE product.id IN ($in) ORDER BY price.id`},
}

// productUses warns of resources that refer to products. It leaves out those that are deleted with them.
func productUses(ctx context.Context, in db.Session, positions map[string]int) (faults, warnings store.Errors, err error) {
	ids := slices.Sorted(maps.Keys(positions))
	found := useCounts{}
	for _, use := range productUsesSQL {
		rows, err := db.CollectIn(ctx, in, db.ScanPair[string, string], ids, use.sql)
		if err != nil {
			return nil, nil, err
		}
		for _, row := range rows {
			if _, deleted := positions[row.Value]; !deleted || use.kind != "product" {
				found.add(row.Key, use.kind, row.Value)
			}
		}
	}
	if err := redirectsTo(ctx, in, catalog.RedirectProduct, found); err != nil {
		return nil, nil, err
	}
	return nil, found.at(positions, "is still used by %s"), nil
}

// redirectsTo adds the redirects that lead to resources of a kind, of which a shop has up to catalog.MaxRedirects.
func redirectsTo(ctx context.Context, in db.Session, kind string, found useCounts) error {
	bodies, err := db.Collect(ctx, in, db.Scalar[[]byte], `SELECT body FROM redirect ORDER BY id`)
	for _, body := range bodies {
		redirect := &catalog.RedirectSource{}
		if err := store.Decode(body, redirect); err != nil {
			return err
		}
		if target := redirect.Relationships.Target; target.ID() != "" && target.Data.Type == kind {
			found.add(target.ID(), "redirect", redirect.ID)
		}
	}
	return err
}

// nodeUses returns nodes that have others below them, which are not deleted too, and warns of redirects to the nodes.
func nodeUses(ctx context.Context, in db.Session, positions map[string]int) (faults, warnings store.Errors, err error) {
	places, err := check.NodePositions(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	found := useCounts{}
	for _, id := range slices.Sorted(maps.Keys(places)) {
		if _, deleted := positions[id]; !deleted {
			found.add(places[id].Parent, "node", id)
		}
	}
	redirects := useCounts{}
	err = redirectsTo(ctx, in, catalog.RedirectNode, redirects)
	return found.at(positions, "cannot be deleted: below it is %s; delete or move what is below first"), redirects.at(positions, "is still used by %s"), err
}

// hierarchyUses returns hierarchies that have nodes, or that catalogs include.
func hierarchyUses(ctx context.Context, in db.Session, positions map[string]int) (faults, warnings store.Errors, err error) {
	return usesOfCatalogs(ctx, in, positions, func(c *catalog.Catalog) []string { return c.HierarchyIDs }, "node", "node", "hierarchy_id")
}

// pricebookUses returns price books that have prices, or that catalogs use.
func pricebookUses(ctx context.Context, in db.Session, positions map[string]int) (faults, warnings store.Errors, err error) {
	return usesOfCatalogs(ctx, in, positions, func(c *catalog.Catalog) (ids []string) {
		for _, rank := range c.Pricebooks {
			ids = append(ids, rank.ID)
		}
		return ids
	}, "product-price", "price", "pricebook_id")
}

// usesOfCatalogs returns resources that catalogs use, or to which resources of a kind belong, by a column of their table.
func usesOfCatalogs(ctx context.Context, in db.Session, positions map[string]int, ofCatalog func(*catalog.Catalog) []string, kind, table, column string) (faults, warnings store.Errors, err error) {
	found := useCounts{}
	using, err := catalog.CatalogsUsing(ctx, in, ofCatalog)
	if err != nil {
		return nil, nil, err
	}
	for _, use := range using {
		found.add(use.Key, "catalog", use.Value)
	}
	counts, err := db.CollectIn(ctx, in, db.ScanPair[string, int], slices.Sorted(maps.Keys(positions)),
		`SELECT `+column+`, COUNT(*) FROM `+table+` WHERE `+column+` IN ($in) GROUP BY `+column)
	if err != nil {
		return nil, nil, err
	}
	for _, of := range counts {
		first, err := db.Collect(ctx, in, db.Scalar[string], `SELECT id FROM `+table+` WHERE `+column+` = $1 ORDER BY id LIMIT $2`, of.Key, store.MaxReferrers)
		if err != nil {
			return nil, nil, err
		}
		for _, id := range first {
			found.add(of.Key, kind, id)
		}
		found[of.Key].Count += of.Value - len(first)
	}
	return found.at(positions, "cannot be deleted: it is used by %s; change or delete that first"), nil, nil
}
