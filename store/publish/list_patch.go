package publish

import (
	"context"
	"sort"

	"portico/store"
	"portico/store/index"
	"portico/store/release/segment"
)

// patch is a product that comes into a list of the base, or leaves it.
type patch struct {
	ordinal uint32
	at      int // its position in the base's list, or where to insert it
	added   bool
	key, id int64 // sort keys
}

// changedParts writes the parts of a base's list that change in one order, and returns
// all parts.
func (l *listWriter) changedParts(ctx context.Context, base segment.List, by store.SortBy, length int, gone, come []uint32) (segment.ListParts, error) {
	patches, err := l.patches(ctx, base, by, length, gone, come)
	if err != nil {
		return nil, err
	}
	parts := make(segment.ListParts, max(1, (length+segment.ChunkSize-1)/segment.ChunkSize))
	for n := range parts {
		parts[n] = segment.NewPart(min(segment.ChunkSize, length-n*segment.ChunkSize), false)
	}
	for len(patches) > 0 {
		number := min(patches[0].at/segment.ChunkSize, len(parts)-1)
		n := sort.Search(len(patches), func(i int) bool { return min(patches[i].at/segment.ChunkSize, len(parts)-1) > number })
		start := number * segment.ChunkSize
		was, err := base.Stored(ctx, by, start, min(length, start+segment.ChunkSize))
		if err != nil {
			return nil, err
		}
		is := applyPatches(patches[:n], start, was)
		patches = patches[n:]
		if parts[number] = segment.NewPart(len(is), len(is) > 0); len(is) > 0 {
			row := []any{l.release.ID, base.Name, string(by), number, index.PackOrdinals(is)}
			l.chunks, l.size = append(l.chunks, row), l.size+chunkRowSize(row)
		}
	}
	return parts, nil
}

// patches returns the patches for the ordinals that go and come in one order of a list of the base, by position.
func (l *listWriter) patches(ctx context.Context, base segment.List, by store.SortBy, length int, gone, come []uint32) (patches []patch, err error) {
	for i, list := range [][]uint32{gone, come} {
		for _, ordinal := range list {
			p := patch{ordinal: ordinal, added: i == 1}
			if p.key, p.id, err = l.sortKeys(ctx, by, ordinal); err != nil {
				return nil, err
			}
			if p.at, err = l.position(ctx, base, by, length, p); err != nil {
				return nil, err
			}
			patches = append(patches, p)
		}
	}
	sort.Slice(patches, func(i, j int) bool { return patches[i].comesBefore(patches[j]) })
	return patches, nil
}

// comesBefore orders patches by position. At one position, an added product comes
// before the one that was there.
func (p patch) comesBefore(other patch) bool {
	switch {
	case p.at != other.at:
		return p.at < other.at
	case p.added != other.added:
		return p.added
	case p.key != other.key:
		return p.key < other.key
	}
	return p.id < other.id
}

// applyPatches returns a part of a list, which begins at start, with its patches.
func applyPatches(patches []patch, start int, was []uint32) []uint32 {
	is := make([]uint32, 0, len(was)+len(patches))
	for _, p := range patches {
		is = append(is, was[:p.at-start]...)
		was, start = was[p.at-start:], p.at
		if p.added {
			is = append(is, p.ordinal)
		} else {
			was, start = was[1:], start+1
		}
	}
	return append(is, was...)
}

// position returns the position of the first product that does not sort before p.
func (l *listWriter) position(ctx context.Context, base segment.List, by store.SortBy, length int, p patch) (int, error) {
	var failed error
	at := sort.Search(length, func(i int) bool {
		var key, id int64
		place, err := base.Stored(ctx, by, i, i+1)
		if err == nil {
			key, id, err = l.sortKeys(ctx, by, place[0])
		}
		if err != nil {
			failed = err
			return true
		}
		return key > p.key || key == p.key && id >= p.id
	})
	return at, failed
}

// sortKeys returns the sort keys of a product of the base or the delta in an order
// of lists: the lower comes first.
func (l *listWriter) sortKeys(ctx context.Context, by store.SortBy, ordinal uint32) (key, id int64, err error) {
	p := l.plan
	if int(ordinal) >= p.first {
		handle := p.order[int(ordinal)-p.first]
		keys := map[store.SortBy]int64{store.SortDefault: -p.updated[handle], store.SortCreatedAt: p.created[handle], store.SortUpdatedAt: p.updated[handle], store.SortName: l.nameKeys[handle]}
		return keys[by], l.idKeys[handle], nil
	}
	base := p.delta.view
	if id, err = base.KeyAt(ctx, store.SortID, int(ordinal)); err != nil || by == store.SortID {
		return 0, id, err
	}
	if by == store.SortDefault {
		key, err = base.KeyAt(ctx, store.SortUpdatedAt, int(ordinal))
		return -key, id, err
	}
	key, err = base.KeyAt(ctx, by, int(ordinal))
	return key, id, err
}
