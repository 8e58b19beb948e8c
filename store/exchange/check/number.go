package check

import (
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// NumberChecker counts the resources of kinds of which a shop may have only so many: the line that first
// names each, by kind and id. It keeps at most one id more than are allowed.
type NumberChecker map[string]map[string]int

// Add records the resource of a line.
func (c NumberChecker) Add(d Line) {
	most := KindByName(d.Kind).Most
	if most == 0 {
		return
	}
	if c[d.Kind] == nil {
		c[d.Kind] = map[string]int{}
	}
	if _, known := c[d.Kind][d.Source.Key()]; !known && len(c[d.Kind]) <= most {
		c[d.Kind][d.Source.Key()] = d.Number
	}
}

// TooMany reports the line that is one too many of each kind, with what the store has. Deletions of the file do not count, since
// they come last.
func (c NumberChecker) TooMany(ctx context.Context, in db.Session) (list []ImportError, err error) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		ids := slices.Sorted(maps.Keys(c[name]))
		stored, _, err := db.One(ctx, in, db.Scalar[int], `SELECT COUNT(*) FROM `+name)
		if err != nil {
			return nil, err
		}
		known, err := (&authoring.Writer{Tx: &db.Tx{Session: in}}).Existing(ctx, name, ids)
		if err != nil {
			return nil, err
		}
		most, lines := KindByName(name).Most, []int{}
		for _, id := range ids {
			if !known[id] {
				lines = append(lines, c[name][id])
			}
		}
		if slices.Sort(lines); len(lines) > 0 && stored+len(lines) > most {
			list = append(list, ImportError{Line: lines[max(0, most-stored)], Type: name, Err: store.Invalidf([]string{"id"},
				"is one too many: a shop has at most %d of the type %s; delete some in an import before", most, name)})
		}
	}
	return list, nil
}
