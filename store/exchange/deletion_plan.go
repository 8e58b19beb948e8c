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
	line     int // 0 if the file does not hold it
	depth    int // of a node below other deleted nodes; these go first

	exists bool
	kept   bool            // it cannot be deleted
	hard   store.Referrers // resources that cannot be without it
	soft   store.Referrers // resources that mention it
}

// deletionPlan finds what an import deletes, and what refers to that. It keeps 40 bytes for each
// line of the file, and about 300 for each deletion, and
// 50 for each of up to store.MaxReferrers resources that refer to it.
type deletionPlan struct {
	list     []*deletion
	replaced []Replacement
	faults   []check.ImportError
	warnings []check.ImportError

	seed    maphash.Seed
	byID    map[uint64]*deletion
	inFile  map[uint64]struct{}  // types and ids of lines
	dead    map[uint64]*deletion // by the keys that they define
	revived map[uint64]bool      // dead keys that another resource defines
	catalog bool                 // the file holds a catalog
	keys    check.LineKeys
}

// referrers are the types of resources that can refer to those of a type.
var referrers = map[string][]string{
	"product": {"product", "node", "product-price"}, "file": {"product", "node"}, "hierarchy": {"node", "catalog"}, "node": {"node"},
	"pricebook": {"product-price", "catalog"}, "price_modifier": {"product"}, "attribute": {"product", "node"}, "catalog": {"catalog_rule"},
}

// planDeletions plans the deletions of lines and of Replace. batches reads the file.
func (s *Service) planDeletions(ctx context.Context, lines []check.Line, batches func(func([]check.Line) error) error, options ImportOptions) (*deletionPlan, error) {
	p := &deletionPlan{seed: maphash.MakeSeed(), byID: map[uint64]*deletion{}, inFile: map[uint64]struct{}{}, dead: map[uint64]*deletion{}, revived: map[uint64]bool{}}
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
		if err := eachResource(batches, p.note); err != nil {
			return err
		}
		return p.findUses(ctx, in)
	})
	if err != nil {
		return nil, err
	}
	return p, p.finish(ctx, s.db.Reader)
}

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

// compare finds lines whose resource another line deletes.
func (p *deletionPlan) compare(d check.Line) {
	hash := p.hash(authoring.KeyKind(d.Kind), d.Source.Key())
	p.inFile[hash] = struct{}{}
	p.catalog = p.catalog || d.Kind == "catalog"
	if deleted := p.byID[hash]; deleted != nil {
		p.faults = append(p.faults, check.ImportError{Line: deleted.line, Type: d.Kind, Other: d.Number,
			Err: store.Invalidf([]string{"deleted"}, "contradicts another line, which has the %s %q", d.Kind, deleted.id)})
	}
}

// replace adds the stored resources of a kind that the file does not hold.
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

// readDeleted reads the resources to delete, and drops those that do not exist.
func (p *deletionPlan) readDeleted(ctx context.Context, in db.Session) error {
	ids := map[string][]string{}
	for _, d := range p.list {
		ids[d.kind] = append(ids[d.kind], d.id)
	}
	parents := map[string]string{}
	for name, ids := range ids {
		if err := store.Chunked(ids, 512, func(ids []string) error {
			return eachStored(ctx, in, check.KindByName(name), ids, func(d check.Line, _ []byte) {
				p.noteDeleted(d)
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
			for up := parents[d.id]; up != "" && d.depth < len(parents); up = parents[up] {
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

// noteDeleted notes the keys of a stored resource that is to be deleted.
func (p *deletionPlan) noteDeleted(d check.Line) {
	found := p.byID[p.hash(authoring.KeyKind(d.Kind), d.Source.Key())]
	if found == nil {
		return
	}
	if source, ok := d.Source.(authoring.UndeletableSource); ok && source.Undeletable() != "" {
		if found.kept = true; found.line > 0 {
			p.fault(found, "%s", source.Undeletable())
			return
		}
		i := slices.IndexFunc(p.replaced, func(r Replacement) bool { return r.Type == d.Kind })
		p.replaced[i].Deleted--
		return
	}
	found.exists = true
	p.keys.Record(d)
	for _, key := range p.keys.Defined {
		if key.Kind != authoring.KeyChild && key.Kind != authoring.KeyOption { // children name their parent too
			p.dead[p.hash(key.Kind, key.Value)] = found
		}
	}
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
				p.note(d)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// note counts the deleted resources that a resource refers to.
func (p *deletionPlan) note(d check.Line) {
	if d.Kind == "stock" || d.Kind == "stock_transaction" {
		return // they stay
	}
	p.keys.Record(d)
	for _, key := range p.keys.Defined {
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
	for _, key := range p.keys.Used {
		hash := p.hash(key.Kind, key.Value)
		if deleted := p.dead[hash]; deleted != nil && !p.revived[hash] && !counted[deleted] {
			counted[deleted] = true
			deleted.soft.Add(store.AuditKind(d.Kind), d.Source.Key())
		}
	}
}

// finish turns uses into errors and warnings.
func (p *deletionPlan) finish(ctx context.Context, in db.Session) error {
	var promotions []*deletion
	catalogs := 0
	for _, d := range p.list {
		switch {
		case d.hard.Count > 0:
			p.fault(d, "cannot be deleted: it is used by %s; change or delete that first", d.hard.String())
		case d.soft.Count > 0:
			p.warn(d, "is still used by %s", d.soft.String())
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

// keepLastCatalog adds an error if no catalog would be left.
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
