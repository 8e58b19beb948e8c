package graph

import (
	"context"
	"crypto/sha256"

	"portico/graph/model"
	"portico/graph/plan"
	"portico/internal/responsecache"
	"portico/store/release"
)

// fragments keep what was written of products, in the room of the answers. An
// answer that is not kept is put together from them: another page of the same
// products, or the same page of the next release, as far as that did not change
// them. They hold what a product shows of itself, of its files and of the way to
// it. What else it refers to, its stock and when it was published are written
// into each answer.
type fragments struct {
	room     *responsecache.Cache
	resolver *Resolver
}

// vicinity is what is found at an edge of a product, as far as it is known.
func vicinity(p *model.Product, edge string) *release.Vicinity {
	if edge == "breadcrumbs" {
		return p.Vicinities().Breadcrumbs.Load()
	}
	return p.Vicinities().Files.Load() // the main image is one of them
}

// Identity implements plan.Fragments. What is found at the edges is looked up
// once for a product of a release, with that of its siblings.
func (f fragments) Identity(ctx context.Context, row any, edges []string) (identity plan.Identity, known bool) {
	p := row.(*model.Product)
	identity, known = p.Identity()
	if !known || len(edges) == 0 {
		return identity, known
	}
	var space [128]byte
	all := append(space[:0], identity[:]...)
	for _, edge := range edges {
		at := vicinity(p, edge)
		if at == nil {
			survey := (*Resolver).surveyFiles
			if edge == "breadcrumbs" {
				survey = (*Resolver).surveyBreadcrumbs
			}
			var err error
			if at, err = model.Load(ctx, p.Sibling, "vicinity "+edge, f.resolver, survey); err != nil {
				return identity, false // who writes the edge tells of it
			}
		}
		all = append(all, at.Identity[:]...)
	}
	sum := sha256.Sum256(all)
	return plan.Identity(sum[:16]), true
}

// Pay implements plan.Fragments: the edge costs what it costs when it is
// followed.
func (f fragments) Pay(ctx context.Context, row any, edge string) bool {
	if edge == "mainImage" {
		return true
	}
	at := vicinity(row.(*model.Product), edge)
	return at != nil && spend(ctx, edge, at.Rows) == nil
}

// Find implements plan.Fragments.
func (f fragments) Find(step uint64, of plan.Identity) *plan.Fragment {
	kept, _ := f.room.Fragment(step, of).(*plan.Fragment)
	return kept
}

// Keep implements plan.Fragments.
func (f fragments) Keep(step uint64, of plan.Identity, made *plan.Fragment) {
	f.room.SetFragment(step, of, made, made.Size())
}

// surveyFiles notes the files of products, and their main images.
func (r *Resolver) surveyFiles(ctx context.Context, all []*model.Product) ([]*release.Vicinity, error) {
	files, err := r.FilesByID(ctx, idsOf(all, func(p *model.Product) []string { return append(fileIDs(p), one(p.MainImageID())...) }))
	if err != nil {
		return nil, err
	}
	found := make([]*release.Vicinity, len(all))
	var content []byte
	for i, p := range all {
		attached := attachedFiles(p, files)
		content = content[:0]
		for _, file := range attached {
			content = file.File.AppendJSON(content)
		}
		content = append(content, '\n')
		if image := files[p.MainImageID()]; image != nil {
			content = image.AppendJSON(content)
		}
		found[i] = release.NewVicinity(content, len(attached))
		p.Vicinities().Files.Store(found[i])
	}
	return found, nil
}

// surveyBreadcrumbs notes the ways to products.
func (r *Resolver) surveyBreadcrumbs(ctx context.Context, all []*model.Product) ([]*release.Vicinity, error) {
	trails, err := r.breadcrumbTrails(ctx, all)
	if err != nil {
		return nil, err
	}
	nodes := map[string][]byte{}
	found := make([]*release.Vicinity, len(all))
	var content []byte
	for i, p := range all {
		content = content[:0]
		for _, trail := range trails[i] {
			of, known := nodes[trail.Node.ID]
			if !known {
				of = trail.Node.AppendContent(nil)
				for _, step := range trail.Ancestors {
					of = append(of, argumentsKey(step)...)
				}
				nodes[trail.Node.ID] = of
			}
			content = append(append(content, of...), '\n')
		}
		found[i] = release.NewVicinity(content, len(trails[i]))
		p.Vicinities().Breadcrumbs.Store(found[i])
	}
	return found, nil
}
