package shop

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// author runs a write of catalogs, rules, hierarchies or nodes. Such writes
// come one at a time in the whole database, imports included, because each of
// them holds the row that hands out the order of creation: what one has read,
// no other changes until it is done. So a rule never outlives its catalog and
// a tree never gets a cycle, however many write.
func (s *Store) author(ctx context.Context, actor store.Actor, fn func(context.Context, *importWriter) error) error {
	return db.UpdateSilently(ctx, s.db, store.KeyGiven(ctx), actor, s.authoring(fn))
}

// authoring is such a write within its transaction.
func (s *Store) authoring(fn func(context.Context, *importWriter) error) func(context.Context, *db.Tx) error {
	return func(ctx context.Context, t *db.Tx) error {
		w := &importWriter{Tx: t, store: s, revised: true}
		if _, err := w.Sequence(ctx, 1); err != nil {
			return err
		}
		if err := fn(ctx, w); err != nil {
			return err
		}
		return w.announce(ctx)
	}
}

// authored returns one row of a list of what is authored; NOT_FOUND when
// there is none.
func authored[T any](ctx context.Context, in db.Session, l db.Listing[T], noun, id string) (T, error) {
	byID, err := authoredByID(ctx, in, l, []string{id})
	row, found := byID[id]
	if err == nil && !found {
		err = unknown(noun, id)
	}
	return row, err
}

// authoredByID returns several rows; an unknown one is left out.
func authoredByID[T any](ctx context.Context, from db.Session, l db.Listing[T], ids []string) (map[string]T, error) {
	byID := make(map[string]T, len(ids))
	err := store.Chunked(store.IDsOnly(ids), 512, func(ids []string) error {
		places, args := db.In(nil, ids)
		rows, err := db.Collect(ctx, from, l.Scan, `SELECT `+l.Columns+` FROM `+l.Table+` WHERE id IN (`+places+`)`, args...)
		for _, row := range rows {
			byID[l.Key(row, store.Sort{})[0].(string)] = row
		}
		return err
	})
	return byID, err
}

// authorRow runs an authoring write and returns the row as it left it.
func authorRow[T any](ctx context.Context, s *Store, actor store.Actor, l db.Listing[T], noun string, id *string, fn func(context.Context, *importWriter) error) (T, error) {
	return db.UpdateOnce(ctx, s.db, store.KeyGiven(ctx), actor, func(ctx context.Context, t *db.Tx) (row T, err error) {
		err = s.authoring(func(ctx context.Context, w *importWriter) (err error) {
			if err := fn(ctx, w); err != nil {
				return err
			}
			row, err = authored(ctx, w.Session, l, noun, *id)
			return err
		})(ctx, t)
		return row, err
	})
}

func unknown(noun, id string) error {
	return store.NotFoundf([]string{"id"}, "names no %s: %q", noun, store.Short(id))
}

// orNewID gives an empty id a value, and makes another one canonical.
func orNewID(id *string) string {
	if *id == "" {
		*id = store.NewID()
	} else if canonical, ok := store.CanonicalID(*id); ok {
		*id = canonical
	}
	return *id
}

// assign sets a member to what a change names, if it does.
func assign[T any](member, to *T) {
	if to != nil {
		*member = *to
	}
}

func assignList[T any](member *[]T, to []T) {
	if to != nil {
		*member = slices.Clone(to)
	}
}

// read reads a source; NOT_FOUND when there is none.
func (w *importWriter) read(ctx context.Context, kind, noun, id string, into source) error {
	if !store.IsID(id) {
		return unknown(noun, id)
	}
	body, found, err := db.One(ctx, w.Session, db.Scalar[[]byte], `SELECT body FROM `+kind+` WHERE id = $1`, id)
	if err != nil {
		return err
	}
	if !found {
		return unknown(noun, id)
	}
	return json.Unmarshal(body, into)
}

// create writes a source whose id must be free.
func (w *importWriter) create(ctx context.Context, k kind, src source) error {
	if err := w.check(ctx, src); err != nil {
		return err
	}
	taken, err := w.existing(ctx, k.name, []string{src.key()})
	if err != nil {
		return err
	}
	if taken[src.key()] {
		return store.Unprocessablef([]string{"id"}, "is taken: %q; leave it out for a new one", src.key())
	}
	return w.put(ctx, k, src)
}

// replace writes a source in place of what has its id.
func (w *importWriter) replace(ctx context.Context, k kind, src source) error {
	if err := w.check(ctx, src); err != nil {
		return err
	}
	return w.put(ctx, k, src)
}

// put writes a checked source, a node without what is attached to it.
func (w *importWriter) put(ctx context.Context, k kind, src source) error {
	write := k.write
	if k.author != nil {
		write = k.author
	}
	_, err := write(w, ctx, []source{src})
	return err
}

// remove deletes a row; NOT_FOUND when there is none.
func (w *importWriter) remove(ctx context.Context, table, noun, id string) error {
	if !store.IsID(id) {
		return unknown(noun, id)
	}
	n, err := w.Exec(ctx, `DELETE FROM `+table+` WHERE id = $1`, id)
	if err == nil && n == 0 {
		err = unknown(noun, id)
	}
	return err
}

// check finds every fault of a source, and what it refers to that there is
// not; members are named as the mutations' inputs have them.
func (w *importWriter) check(ctx context.Context, src source) error {
	f := &faults{}
	src.check(f)
	if len(f.list) == 0 {
		for _, ref := range f.refs {
			known, err := w.existing(ctx, ref.kind, []string{ref.id})
			if err != nil {
				return err
			}
			if !known[ref.id] {
				e := store.Unprocessablef(strings.Split(ref.member, "."), "names no %s: %q", ref.kind, ref.id)
				f.list = append(f.list, e)
			}
		}
	}
	for i, fault := range f.list {
		f.list[i] = asInput(fault)
	}
	if len(f.list) > 0 {
		return f.list
	}
	return nil
}

// inputMembers are the members of sources whose inputs have another name than
// theirs in camel case.
var inputMembers = map[string]string{
	"hierarchies": "hierarchyIds", "pricebook_ids": "pricebooks", "curated_products": "productIds",
	"hierarchy": "hierarchyId", "parent": "parentId",
}

// asInput names a fault's member as the inputs do: without the groups of the
// file's shape, in camel case.
func asInput(fault *store.Error) *store.Error {
	moved := *fault
	moved.Path = nil
	for i, name := range fault.Path {
		last := i == len(fault.Path)-1
		switch {
		case i == 0 && (name == "attributes" || name == "relationships"), name == "data":
		case last && name == "id" && len(moved.Path) == 1 && strings.HasSuffix(moved.Path[0], "Id"):
		case inputMembers[name] != "":
			moved.Path = append(moved.Path, inputMembers[name])
		default:
			moved.Path = append(moved.Path, camel(name))
		}
	}
	moved.Detail = strings.ReplaceAll(moved.Detail, "valid_from", "validFrom")
	return &moved
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// some names the first few of several things.
func some(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
