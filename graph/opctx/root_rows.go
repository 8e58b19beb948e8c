package opctx

import (
	"context"
	"slices"
	"sync"
)

// rootRows are the rows of the root fields of a name and argument. The first field that needs them reads all.
type rootRows struct {
	once  sync.Once // of the read
	found any       // map[string]T
	err   error
}

// ReadTogether returns the row with an id for a root field of a name; the zero value if there is none. The first of the fields
// of that name that have the id in the same argument, as RootIDs names it, reads the rows of all.
func ReadTogether[T any](ctx context.Context, field, argument, id string, read func(ctx context.Context, ids []string) (map[string]T, error)) (row T, err error) {
	op := From(ctx)
	var ids []string
	if op != nil && op.Roots != nil {
		ids = op.Roots.RootIDs(ctx, field, argument)
	}
	if len(ids) < 2 || !slices.Contains(ids, id) { // nothing to share, or the id was spelled in another way
		found, err := read(ctx, []string{id})
		return found[id], err
	}
	kept, _ := op.rootRows.LoadOrStore([2]string{field, argument}, &rootRows{})
	rows := kept.(*rootRows)
	rows.once.Do(func() { rows.found, rows.err = read(ctx, ids) })
	if rows.err != nil {
		return row, rows.err
	}
	return rows.found.(map[string]T)[id], nil
}
