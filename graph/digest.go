package graph

import (
	"context"

	"portico/graph/model"
	"portico/store/release"
)

// FileDigests returns and stores the digests of the files and main images of products.
func (r *Resolver) FileDigests(ctx context.Context, all []*model.Product) ([]*release.EdgeDigest, error) {
	files, err := r.FilesByID(ctx, idsOf(all, func(p *model.Product) []string { return append(fileIDs(p), one(p.MainImageID())...) }), all)
	if err != nil {
		return nil, err
	}
	digests := make([]*release.EdgeDigest, len(all))
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
		digests[i] = release.NewEdgeDigest(content, len(attached))
		p.EdgeDigests().Files.Store(digests[i])
	}
	return digests, nil
}

// BreadcrumbDigests returns and stores the digests of the breadcrumbs of products.
func (r *Resolver) BreadcrumbDigests(ctx context.Context, all []*model.Product) ([]*release.EdgeDigest, error) {
	trails, err := r.breadcrumbTrails(ctx, all)
	if err != nil {
		return nil, err
	}
	nodes := map[string][]byte{}
	digests := make([]*release.EdgeDigest, len(all))
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
		digests[i] = release.NewEdgeDigest(content, len(trails[i]))
		p.EdgeDigests().Breadcrumbs.Store(digests[i])
	}
	return digests, nil
}
