package exchange

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
)

// deletion is a resource to delete.
type deletion struct {
	kind, id string
	line     int // of the line that deletes it; 0 if ImportOptions.Replace does
	depth    int // of a node below other deleted nodes; the deepest go first

	exists bool
	kept   bool            // it is a part of another resource, and stays
	hard   store.Referrers // resources that refer to it and need it: the import fails
	keys   []uint64        // its keys, as hashes; deletionPlan.soft has the resources that use them
}

// deletionPlan finds what an import deletes, and what refers to that. A key is what others refer to a resource by: its id,
// SKU, slug or name. A key is dead if a resource to delete defines it, and revived if a resource that stays defines it too.
// It keeps 40 bytes for each line of the file, about 400 for each deletion, and 50 for each of up to store.MaxReferrers
// resources that refer to it.
type deletionPlan struct {
	list     []*deletion // in the order in which those of a kind can be deleted
	replaced []Replacement
	faults   []check.ImportError
	warnings []check.ImportError

	seed    maphash.Seed
	byID    map[uint64]*deletion
	inFile  map[uint64]struct{}        // types and ids of lines
	dead    map[uint64]*deletion       // by dead key
	revived map[uint64]bool            // dead keys
	soft    map[uint64]store.Referrers // by dead key: resources that would be left with a name without a target
	catalog bool                       // the file holds a catalog
	scratch check.LineKeys             // of the line at hand: Record overwrites it
}

// referrers are the types of resources that can refer to those of a type, or that can define one of their keys too.
var referrers = map[string][]string{
	"product": {"product", "node", "product-price", "redirect"}, "file": {"product", "node"}, "hierarchy": {"node", "catalog", "redirect"}, "node": {"node", "redirect"},
	"pricebook": {"product-price", "catalog"}, "price_modifier": {"product", "price_modifier"}, "attribute": {"product", "node"}, "catalog": {"catalog_rule"},
}

// planDeletions plans the deletions of lines and of Replace: it finds what is deleted, which keys die with that, and which
// resources of the file and of the store use them. batches reads the file, here twice.
func (s *Service) planDeletions(ctx context.Context, lines []check.Line, batches func(func([]check.Line) error) error, options ImportOptions) (*deletionPlan, error) {
	p := &deletionPlan{seed: maphash.MakeSeed(), byID: map[uint64]*deletion{}, inFile: map[uint64]struct{}{}, dead: map[uint64]*deletion{}, revived: map[uint64]bool{}, soft: map[uint64]store.Referrers{}}
	if len(lines)+len(options.Replace) == 0 {
		return p, nil
	}
	for _, d := range lines {
		p.add(&deletion{kind: d.Kind, id: d.Deletes, line: d.Number})
	}
	if err := eachResource(batches, p.compare); err != nil {
		return nil, err
	}
	err := s.db.Snapshot(ctx, func(in db.Session) error {
		for _, kind := range check.Kinds {
			if slices.Contains(options.Replace, kind.Name) {
				if err := p.replace(ctx, in, kind); err != nil {
					return err
				}
			}
		}
		if err := p.readDeleted(ctx, in); err != nil {
			return err
		}
		if err := eachResource(batches, p.countUses); err != nil {
			return err
		}
		return p.findUses(ctx, in)
	})
	if err != nil {
		return nil, err
	}
	return p, p.report(ctx, s.db.Reader)
}

// eachResource calls do with the lines of a file that hold a resource.
func eachResource(batches func(func([]check.Line) error) error, do func(check.Line)) error {
	return batches(func(batch []check.Line) error {
		for _, d := range batch {
			if d.Source != nil {
				do(d)
			}
		}
		return nil
	})
}

func (p *deletionPlan) hash(kind authoring.KeyKind, value string) uint64 {
	return maphash.Comparable(p.seed, check.RecordedKey{Kind: kind, Value: value})
}

// add adds a deletion. The first line of a resource counts.
func (p *deletionPlan) add(d *deletion) {
	hash := p.hash(authoring.KeyKind(d.kind), d.id)
	if p.byID[hash] == nil {
		p.byID[hash] = d
		p.list = append(p.list, d)
	}
}

// compare records which resources the file holds, and adds an error if another line deletes one.
func (p *deletionPlan) compare(d check.Line) {
	hash := p.hash(authoring.KeyKind(d.Kind), d.Source.Key())
	p.inFile[hash] = struct{}{}
	p.catalog = p.catalog || d.Kind == "catalog"
	if deleted := p.byID[hash]; deleted != nil {
		p.faults = append(p.faults, check.ImportError{Line: deleted.line, Type: d.Kind, Other: d.Number,
			Err: store.Invalidf([]string{"deleted"}, "contradicts another line, which has the %s %q", d.Kind, deleted.id)})
	}
}

// replace adds the stored resources of a kind that the file does not hold, and counts both.
func (p *deletionPlan) replace(ctx context.Context, in db.Session, kind authoring.Kind) error {
	r := Replacement{Type: kind.Name}
	err := eachStored(ctx, in, kind, nil, func(d check.Line, _ []byte) {
		r.All++
		if _, held := p.inFile[p.hash(authoring.KeyKind(kind.Name), d.Source.Key())]; !held {
			r.Deleted++
			p.add(&deletion{kind: kind.Name, id: d.Source.Key()})
		}
	})
	p.replaced = append(p.replaced, r)
	return err
}

// readDeleted reads the stored resources to delete. It drops those that do not exist, with a warning, and those that stay,
// and sorts the others.
func (p *deletionPlan) readDeleted(ctx context.Context, in db.Session) error {
	ids := map[string][]string{}
	for _, d := range p.list {
		ids[d.kind] = append(ids[d.kind], d.id)
	}
	parents := map[string]string{}
	for name, ids := range ids {
		if err := store.Chunked(ids, 512, func(ids []string) error {
			return eachStored(ctx, in, check.KindByName(name), ids, func(d check.Line, _ []byte) {
				p.registerKeys(d)
				if node, ok := d.Source.(*catalog.NodeSource); ok {
					parents[node.ID] = node.Relationships.Parent.ID()
				}
			})
		}); err != nil {
			return err
		}
	}
	for _, d := range p.list {
		if d.kind == "node" {
			for up := parents[d.id]; up != "" && d.depth < len(parents); up = parents[up] { // a circle of parents ends too
				d.depth++
			}
		}
		if !d.exists && !d.kept {
			p.warn(d, "is not the id of a %s: %q; there is nothing to delete", d.kind, store.Abbreviate(d.id))
		}
	}
	p.list = slices.DeleteFunc(p.list, func(d *deletion) bool { return !d.exists })
	slices.SortStableFunc(p.list, func(a, b *deletion) int { return b.depth - a.depth })
	return nil
}

// registerKeys registers the keys of a stored resource to delete as dead. A resource that cannot be deleted stays: an error if a
// line deletes it, and one less to delete for Replace.
func (p *deletionPlan) registerKeys(d check.Line) {
	found := p.byID[p.hash(authoring.KeyKind(d.Kind), d.Source.Key())]
	if found == nil {
		return
	}
	if source, ok := d.Source.(authoring.UndeletableSource); ok && source.Undeletable() != "" {
		found.kept = true
		if found.line > 0 {
			p.fault(found, "%s", source.Undeletable())
			return
		}
		i := slices.IndexFunc(p.replaced, func(r Replacement) bool { return r.Type == d.Kind })
		p.replaced[i].Deleted--
		return
	}
	found.exists = true
	p.scratch.Record(d)
	for _, key := range p.scratch.Defined {
		if key.Kind != authoring.KeyChild && key.Kind != authoring.KeyOption { // children name their parent too
			hash := p.hash(key.Kind, key.Value)
			p.dead[hash] = found
			found.keys = append(found.keys, hash)
		}
	}
}

// deletes reports whether a stored resource will be deleted. Call it after planDeletions.
func (p *deletionPlan) deletes(kind authoring.KeyKind, id string) bool {
	d := p.byID[p.hash(kind, id)]
	return d != nil && d.exists
}

func (p *deletionPlan) fault(d *deletion, format string, args ...any) {
	p.faults = append(p.faults, check.ImportError{Line: d.line, Type: d.kind, Err: store.Invalidf([]string{"id"}, format, args...)})
}

func (p *deletionPlan) warn(d *deletion, format string, args ...any) {
	p.warnings = append(p.warnings, check.ImportError{Line: d.line, Type: d.kind, Err: store.Invalidf([]string{"id"}, format, args...)})
}

// findUses looks in the store for resources that refer to deleted ones. It leaves out those that
// are deleted too, and those that the file replaces.
func (p *deletionPlan) findUses(ctx context.Context, in db.Session) error {
	wanted := map[string]bool{}
	for _, d := range p.list {
		for _, name := range referrers[d.kind] {
			wanted[name] = true
		}
	}
	for _, kind := range check.Kinds {
		if !wanted[kind.Name] {
			continue
		}
		if kind.Name == "node" && !slices.ContainsFunc(p.list, func(d *deletion) bool { return d.kind == "product" }) {
			kind.Export = catalog.ExportNodesWithoutProducts
		}
		if err := eachStored(ctx, in, kind, nil, func(d check.Line, _ []byte) {
			hash := p.hash(authoring.KeyKind(d.Kind), d.Source.Key())
			if _, replaced := p.inFile[hash]; !replaced && p.byID[hash] == nil {
				p.countUses(d)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// countUses counts a resource that stays as a use of each deletion that it refers to, once: hard if the store refuses a
// resource without it, else soft. It also revives the dead keys that the resource defines.
func (p *deletionPlan) countUses(d check.Line) {
	if d.Kind == "stock" || d.Kind == "stock_transaction" {
		return // they stay
	}
	p.scratch.Record(d)
	for _, key := range p.scratch.Defined {
		if hash := p.hash(key.Kind, key.Value); p.dead[hash] != nil {
			p.revived[hash] = true
		}
	}
	counted := map[*deletion]bool{}
	needs := func(kind, id string) {
		if deleted := p.dead[p.hash(authoring.KeyKind(kind), id)]; deleted != nil && !counted[deleted] {
			counted[deleted] = true
			deleted.hard.Add(store.AuditKind(d.Kind), d.Source.Key())
		}
	}
	for _, ref := range d.References {
		needs(ref.Kind, ref.ID)
	}
	if source, ok := d.Source.(catalog.Attributed); ok {
		for key := range source.OwnAttributes() {
			needs("attribute", key)
		}
	}
	for _, key := range p.scratch.Used {
		hash := p.hash(key.Kind, key.Value)
		if deleted := p.dead[hash]; deleted != nil && !counted[deleted] {
			counted[deleted] = true
			soft := p.soft[hash]
			soft.Add(store.AuditKind(d.Kind), d.Source.Key())
			p.soft[hash] = soft
		}
	}
}

// report turns uses into errors and warnings. Uses of keys that were revived, by any resource after the use, do not count.
func (p *deletionPlan) report(ctx context.Context, in db.Session) error {
	var promotions []*deletion
	catalogs := 0
	for _, d := range p.list {
		var soft store.Referrers
		for _, key := range d.keys {
			if !p.revived[key] {
				soft.AddAll(p.soft[key])
			}
		}
		switch {
		case d.hard.Count > 0:
			p.fault(d, "cannot be deleted: it is used by %s; change or delete that first", d.hard.String())
		case soft.Count > 0:
			p.warn(d, "is still used by %s", soft.String())
		}
		switch d.kind {
		case "promotion":
			promotions = append(promotions, d)
		case "catalog":
			catalogs++
		}
	}
	if catalogs > 0 {
		if err := p.keepLastCatalog(ctx, in, catalogs); err != nil {
			return err
		}
	}
	slices.SortStableFunc(p.warnings, func(a, b check.ImportError) int { return cmp.Compare(a.Line, b.Line) })
	return p.warnOfCodes(ctx, in, promotions)
}

// keepLastCatalog adds an error if no catalog would be left, in the file or in the store. deleted is the number of catalogs to
// delete.
func (p *deletionPlan) keepLastCatalog(ctx context.Context, in db.Session, deleted int) error {
	if p.catalog {
		return nil
	}
	stored, err := db.Collect(ctx, in, db.Scalar[string], `SELECT id FROM catalog ORDER BY id LIMIT $1`, deleted+1)
	if err != nil || len(stored) > deleted {
		return err
	}
	for _, d := range p.list {
		if d.kind == "catalog" {
			p.fault(d, "must stay: without a catalog shoppers see nothing")
			return nil
		}
	}
	return nil
}

// warnOfCodes warns of the codes that promotions take with them.
func (p *deletionPlan) warnOfCodes(ctx context.Context, in db.Session, promotions []*deletion) error {
	ids := make([]string, len(promotions))
	for i, d := range promotions {
		ids[i] = d.id
	}
	rows, err := db.CollectIn(ctx, in, db.ScanPair[string, int], ids, `SELECT id, codes FROM promotion WHERE id IN ($in)`)
	if err != nil {
		return err
	}
	codes := db.PairMap(rows)
	for _, d := range promotions {
		if codes[d.id] > 0 {
			p.warn(d, "has %d codes, which are deleted with it; its usages stay", codes[d.id])
		}
	}
	return nil
}

// each calls do with the ids of each type, in the order in which they can be deleted.
func (p *deletionPlan) each(do func(kind authoring.Kind, ids []string) error) error {
	byKind := map[string][]string{}
	for _, d := range p.list {
		byKind[d.kind] = append(byKind[d.kind], d.id)
	}
	for _, kind := range slices.Backward(check.Kinds) {
		if ids := byKind[kind.Name]; len(ids) > 0 {
			if err := do(kind, ids); err != nil {
				return err
			}
		}
	}
	return nil
}
