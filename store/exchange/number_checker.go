package exchange

import (
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// numberChecker counts the resources of kinds of which a shop may have only so many: the line that first
// names each, by kind and id. It keeps at most one id more than are allowed.
type numberChecker map[string]map[string]int

func (c numberChecker) add(d decodedLine) {
	most := kindByName(d.kind).Most
	if most == 0 {
		return
	}
	if c[d.kind] == nil {
		c[d.kind] = map[string]int{}
	}
	if _, known := c[d.kind][d.source.Key()]; !known && len(c[d.kind]) <= most {
		c[d.kind][d.source.Key()] = d.line
	}
}

// tooMany reports the line that is one too many of each kind, with what the store has.
func (c numberChecker) tooMany(ctx context.Context, in db.Session) (list []ImportError, err error) {
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
		most, lines := kindByName(name).Most, []int{}
		for _, id := range ids {
			if !known[id] {
				lines = append(lines, c[name][id])
			}
		}
		if slices.Sort(lines); stored+len(lines) > most {
			list = append(list, ImportError{Line: lines[max(0, most-stored)], Type: name, Err: store.Invalidf([]string{"id"},
				"is one too many: a shop has at most %d of the type %s; delete some in an import before", most, name)})
		}
	}
	return list, nil
}
