package authoring

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// ReadRow returns one row of a list of authored resources, or NOT_FOUND. noun names the resource in the error.
func ReadRow[T any](ctx context.Context, in db.Session, l db.Listing[T], noun, id string) (T, error) {
	byID, err := ReadRowsByID(ctx, in, l, []string{id})
	row, found := byID[id]
	if err == nil && !found {
		err = notFound(noun, id)
	}
	return row, err
}

// ReadRowsByID returns rows by id; unknown ones are missing.
func ReadRowsByID[T any](ctx context.Context, from db.Session, l db.Listing[T], ids []string) (map[string]T, error) {
	rows, err := db.CollectIn(ctx, from, l.Scan, store.ValidIDs(ids), `SELECT `+l.Columns+` FROM `+l.Table+` WHERE `+l.ID+` IN ($in)`)
	return store.IndexBy(rows, func(row T) string { return l.Key(row, store.Sort{})[0].(string) }), err
}

func notFound(noun, id string) error {
	return store.NotFoundf([]string{"id"}, "is not the id of a %s: %q", noun, store.Abbreviate(id))
}

// OrNewID generates an id if it is empty, or makes it canonical, in place, and returns it.
func OrNewID(id *string) string {
	if *id == "" {
		*id = store.NewID()
	} else if canonical, ok := store.CanonicalID(*id); ok {
		*id = canonical
	}
	return *id
}

// Assign sets a member if the change has a value.
func Assign[T any](member, to *T) {
	if to != nil {
		*member = *to
	}
}

// AssignList is Assign for a list, which it copies.
func AssignList[T any](member *[]T, to []T) {
	if to != nil {
		*member = slices.Clone(to)
	}
}

// Read reads a source, or returns NOT_FOUND.
func (w *Writer) Read(ctx context.Context, kind, noun, id string, into Source) error {
	if !store.IsID(id) {
		return notFound(noun, id)
	}
	body, found, err := db.One(ctx, w.Session, db.Scalar[[]byte], `SELECT body FROM `+kind+` WHERE id = $1`, id)
	if err != nil {
		return err
	}
	if !found {
		return notFound(noun, id)
	}
	return json.Unmarshal(body, into)
}

// Create writes a new source. It returns UNPROCESSABLE if its id is taken.
func (w *Writer) Create(ctx context.Context, k Kind, src Source) error {
	if err := w.check(ctx, k, src); err != nil {
		return err
	}
	taken, err := w.Existing(ctx, k.Name, []string{src.Key()})
	if err != nil {
		return err
	}
	if taken[src.Key()] {
		return store.AlreadyExistsf([]string{"id"}, "is already used: %q; omit it to generate one", src.Key())
	}
	return w.put(ctx, k, src)
}

// Replace overwrites a source.
func (w *Writer) Replace(ctx context.Context, k Kind, src Source) error {
	if err := w.check(ctx, k, src); err != nil {
		return err
	}
	return w.put(ctx, k, src)
}

// put writes a checked source by Kind.Author, if the kind has it, and records it.
func (w *Writer) put(ctx context.Context, k Kind, src Source) error {
	if k.Author != nil {
		k.Write = k.Author
	}
	_, err := w.WriteAll(ctx, k, []Source{src})
	return err
}

// Remove deletes a row, or returns NOT_FOUND.
func (w *Writer) Remove(ctx context.Context, table, noun, id string) error {
	if !store.IsID(id) {
		return notFound(noun, id)
	}
	n, err := w.Exec(ctx, `DELETE FROM `+table+` WHERE id = $1`, id)
	if err == nil && n == 0 {
		err = notFound(noun, id)
	}
	return err
}

// RemoveAll deletes rows and returns the ids of those that existed.
func (w *Writer) RemoveAll(ctx context.Context, table string, ids []string) ([]string, error) {
	gone, err := db.CollectIn(ctx, w.Session, db.Scalar[string], slices.Sorted(slices.Values(ids)), `DELETE FROM `+table+` WHERE id IN ($in) RETURNING id`)
	w.Touch(table, gone...)
	return gone, err
}

// RemoveRows is the Delete of a kind that has nothing but the rows of a table.
func RemoveRows(table string) func(context.Context, *Writer, []string) ([]string, error) {
	return func(ctx context.Context, w *Writer, ids []string) ([]string, error) {
		return w.RemoveAll(ctx, table, ids)
	}
}

// check returns every error of a source, including references to missing resources. Paths
// are those of the mutations' inputs.
func (w *Writer) check(ctx context.Context, k Kind, src Source) error {
	f := &Validator{}
	src.Check(f)
	if len(f.Errors) == 0 {
		for _, ref := range f.References {
			known, err := w.Existing(ctx, ref.Kind, []string{ref.ID})
			if err != nil {
				return err
			}
			if !known[ref.ID] {
				e := store.UnknownReferencef(strings.Split(ref.Member, "."), "is not the id of a %s: %q", ref.Kind, ref.ID)
				f.Errors = append(f.Errors, e)
			}
		}
	}
	for i, fault := range f.Errors {
		moved := *fault
		moved.Path = k.InputPath(fault.Path)
		f.Errors[i] = &moved
	}
	if len(f.Errors) > 0 {
		return f.Errors
	}
	return nil
}
