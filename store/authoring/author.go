package authoring

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// Authored returns one row of a list of what is authored; NOT_FOUND when
// there is none.
func Authored[T any](ctx context.Context, in db.Session, l db.Listing[T], noun, id string) (T, error) {
	byID, err := AuthoredByID(ctx, in, l, []string{id})
	row, found := byID[id]
	if err == nil && !found {
		err = unknown(noun, id)
	}
	return row, err
}

// AuthoredByID returns several rows; an unknown one is left out.
func AuthoredByID[T any](ctx context.Context, from db.Session, l db.Listing[T], ids []string) (map[string]T, error) {
	byID := make(map[string]T, len(ids))
	err := store.Chunked(store.ValidIDs(ids), 512, func(ids []string) error {
		places, args := db.InList(nil, ids)
		rows, err := db.Collect(ctx, from, l.Scan, `SELECT `+l.Columns+` FROM `+l.Table+` WHERE id IN (`+places+`)`, args...)
		for _, row := range rows {
			byID[l.Key(row, store.Sort{})[0].(string)] = row
		}
		return err
	})
	return byID, err
}

func unknown(noun, id string) error {
	return store.NotFoundf([]string{"id"}, "names no %s: %q", noun, store.Abbreviate(id))
}

// OrNewID gives an empty id a value, and makes another one canonical.
func OrNewID(id *string) string {
	if *id == "" {
		*id = store.NewID()
	} else if canonical, ok := store.CanonicalID(*id); ok {
		*id = canonical
	}
	return *id
}

// Assign sets a member to what a change names, if it does.
func Assign[T any](member, to *T) {
	if to != nil {
		*member = *to
	}
}

// AssignList is Assign for a list, which it copies; nil is none.
func AssignList[T any](member *[]T, to []T) {
	if to != nil {
		*member = slices.Clone(to)
	}
}

// Read reads a source; NOT_FOUND when there is none.
func (w *Writer) Read(ctx context.Context, kind, noun, id string, into Source) error {
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

// Create writes a source whose id must be free.
func (w *Writer) Create(ctx context.Context, k Kind, src Source) error {
	if err := w.check(ctx, src); err != nil {
		return err
	}
	taken, err := w.Existing(ctx, k.Name, []string{src.Key()})
	if err != nil {
		return err
	}
	if taken[src.Key()] {
		return store.Unprocessablef([]string{"id"}, "is taken: %q; leave it out for a new one", src.Key())
	}
	return w.put(ctx, k, src)
}

// Replace writes a source in place of what has its id.
func (w *Writer) Replace(ctx context.Context, k Kind, src Source) error {
	if err := w.check(ctx, src); err != nil {
		return err
	}
	return w.put(ctx, k, src)
}

// put writes a checked source, a node without what is attached to it.
func (w *Writer) put(ctx context.Context, k Kind, src Source) error {
	write := k.Write
	if k.Author != nil {
		write = k.Author
	}
	_, err := write(ctx, w, []Source{src})
	return err
}

// Remove deletes a row; NOT_FOUND when there is none.
func (w *Writer) Remove(ctx context.Context, table, noun, id string) error {
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
func (w *Writer) check(ctx context.Context, src Source) error {
	f := &Faults{}
	src.Check(f)
	if len(f.List) == 0 {
		for _, ref := range f.Refs {
			known, err := w.Existing(ctx, ref.Kind, []string{ref.ID})
			if err != nil {
				return err
			}
			if !known[ref.ID] {
				e := store.Unprocessablef(strings.Split(ref.Member, "."), "names no %s: %q", ref.Kind, ref.ID)
				f.List = append(f.List, e)
			}
		}
	}
	for i, fault := range f.List {
		f.List[i] = AsInput(fault)
	}
	if len(f.List) > 0 {
		return f.List
	}
	return nil
}

// inputMembers are the members of sources that have another name where they
// are authored.
var inputMembers = map[string]string{
	"hierarchies": "hierarchy_ids", "pricebook_ids": "pricebooks", "curated_products": "product_ids",
	"hierarchy": "hierarchy_id", "parent": "parent_id",
}

// AsInput names a fault's member of a source as it is authored: without the
// groups of the file's shape.
func AsInput(fault *store.Error) *store.Error {
	moved := *fault
	moved.Path = nil
	for i, name := range fault.Path {
		last := i == len(fault.Path)-1
		switch {
		case i == 0 && (name == "attributes" || name == "relationships"), name == "data":
		case last && name == "id" && len(moved.Path) == 1 && strings.HasSuffix(moved.Path[0], "_id"):
		case inputMembers[name] != "":
			moved.Path = append(moved.Path, inputMembers[name])
		default:
			moved.Path = append(moved.Path, name)
		}
	}
	return &moved
}

// Some names the first few of several things.
func Some(ids []string) string {
	const most = 5
	if len(ids) <= most {
		return strings.Join(ids, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
}
