package exchange

import (
	"bytes"
	"context"
	"hash/maphash"
	"io"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
	"portico/store/settings"
	"portico/store/stock"
)

// ImportPlan is what an import would do. Counts are by type, of resources.
type ImportPlan struct {
	*ImportReport
	Created, Updated, Unchanged map[string]int
}

// PlannedChange is what an import would do to a resource.
type PlannedChange struct {
	Line    int // from 1
	Type    string
	ID      string
	Created bool                 // it does not exist yet
	Deleted bool                 // it would be deleted; Line is 0 if the file does not hold it
	Members []store.MemberChange // by member; nil for a deletion, and beyond maxDetailed changes
}

// maxDetailed is the most changed resources whose stored lines a plan keeps in memory.
const maxDetailed = 10_000

// importPlanner compares the lines of an import with an export of the store. It keeps 40 bytes for
// each resource of the file.
type importPlanner struct {
	*ImportPlan
	seed   maphash.Seed
	policy *overwritePolicy
	latest map[uint64]plannedLine // by type and id
	stored map[uint64][]byte      // lines of the store that differ
}

// plannedLine is the last line of a resource in the file.
type plannedLine struct {
	line  int
	body  uint64 // hash of the resource
	state planState
}

// planState is what the import would do with a resource.
type planState byte

const (
	planCreated planState = iota // until the store turns out to have it
	planUpdated
	planUnchanged
)

// PlanImport checks an import and returns what it would do, without writing any resource. changed is
// called with each resource that would be created or updated, in the order of the file, and then with each that would be deleted. A product
// without times counts as unchanged if nothing else changes.
func (s *Service) PlanImport(ctx context.Context, actor store.Actor, open func() (io.ReadCloser, error), options ImportOptions, changed func(PlannedChange)) (*ImportPlan, error) {
	c, err := s.checkImport(ctx, actor, open, options)
	if err != nil {
		return nil, err
	}
	defer c.close()
	options.Progress = nil
	p := &importPlanner{ImportPlan: &ImportPlan{c.report, map[string]int{}, map[string]int{}, map[string]int{}}, seed: maphash.MakeSeed(), policy: c.policy,
		latest: map[uint64]plannedLine{}, stored: map[uint64][]byte{}}
	each := func(do func(hash uint64, d check.Line)) error {
		return c.eachBatch(ctx, options, func(batch []check.Line) error {
			return s.db.Snapshot(ctx, func(in db.Session) error {
				if err := catalog.SetTimes(ctx, in, s.db.Now(), sourcesOf(batch)); err != nil {
					return err
				}
				for _, d := range batch {
					if d.Source != nil {
						do(p.hash(d), d)
					}
				}
				return nil
			})
		})
	}
	if err := each(p.add); err != nil {
		return nil, err
	}
	stored := newLineDecoder(ImportOptions{})
	lines := &lineSplitter{do: func(line []byte) { p.compare(stored.Decode(line), line) }}
	if _, err := s.Export(ctx, lines, ExportOptions{WithClients: true}); err != nil {
		return nil, err
	}
	if err := each(func(hash uint64, d check.Line) {
		if found := p.latest[hash]; found.line == d.Number {
			p.plan(found, hash, d, changed)
		}
	}); err != nil {
		return nil, err
	}
	for _, d := range c.deletions.list {
		p.Deleted[d.kind]++
		changed(PlannedChange{Line: d.line, Type: d.kind, ID: d.id, Deleted: true})
	}
	return p.ImportPlan, nil
}

func (p *importPlanner) hash(d check.Line) uint64 {
	return maphash.Comparable(p.seed, [2]string{d.Kind, d.Source.Key()})
}

// add records a line of the file. It replaces an earlier one of the resource.
func (p *importPlanner) add(hash uint64, d check.Line) {
	p.latest[hash] = plannedLine{d.Number, maphash.Bytes(p.seed, store.Encode(d.Source)), planCreated}
}

// compare compares a line of the store with the resource of the file, and keeps it for the plan if they differ.
func (p *importPlanner) compare(d check.Line, line []byte) {
	if d.Source == nil {
		return
	}
	hash := p.hash(d)
	found, planned := p.latest[hash]
	if !planned {
		return
	}
	found.state = planUpdated
	if maphash.Bytes(p.seed, store.Encode(d.Source)) == found.body {
		found.state = planUnchanged
	} else if len(p.stored) < maxDetailed {
		p.stored[hash] = bytes.Clone(line)
	}
	p.latest[hash] = found
}

// plan counts the last line of a resource: as unchanged, skipped, created or updated. It calls changed if the line would be
// written, with the values of secrets masked.
func (p *importPlanner) plan(found plannedLine, hash uint64, d check.Line, changed func(PlannedChange)) {
	change := PlannedChange{Line: d.Number, Type: d.Kind, ID: d.Source.Key(), Created: found.state == planCreated}
	if stored := p.stored[hash]; stored != nil || change.Created && p.Created[d.Kind] < maxDetailed {
		change.Members = changedMembers(stored, store.Encode(d.Source))
		if d.Kind == settings.Kind.Name { // settings that the line leaves out stay
			change.Members = slices.DeleteFunc(change.Members, func(m store.MemberChange) bool { return m.After == nil })
		}
		if !change.Created && len(change.Members) == 0 { // only what the line leaves out differs
			found.state = planUnchanged
		}
		check.KindByName(d.Kind).MaskSecrets(change.Members)
	}
	switch {
	case found.state == planUnchanged:
		p.Unchanged[d.Kind]++
		return
	case p.keeps(d, found.state):
		p.Skipped[d.Kind]++
		return
	case found.state == planCreated:
		p.Created[d.Kind]++
	default:
		p.Updated[d.Kind]++
	}
	changed(change)
}

// keeps reports whether the import leaves what the service itself has written, as overwritePolicy.writable would. A stored
// stock transaction never changes.
func (p *importPlanner) keeps(d check.Line, state planState) bool {
	switch source := d.Source.(type) {
	case *stock.Source:
		return state == planUpdated && !p.policy.options.Stock
	case *stock.TransactionSource:
		return state == planUpdated || !p.policy.options.Stock && p.policy.ledger.Of(source.ProductID).Skipping
	}
	return d.Kind == "settings" && p.policy.settings && !p.policy.options.Settings
}

// changedMembers returns the members in which two lines differ; before is nil for a new resource. Times that the new line leaves out
// stay as they are.
func changedMembers(before, after []byte) []store.MemberChange {
	created := before == nil
	if created {
		before = []byte(`{}`)
	}
	return slices.DeleteFunc(store.ChangedMembers(before, after), func(c store.MemberChange) bool {
		leaf := c.Path[len(c.Path)-1]
		return c.After == nil && (leaf == "created_at" || leaf == "updated_at") || len(c.Path) == 1 && created && slices.Contains(authoring.Unrecorded, leaf)
	})
}
