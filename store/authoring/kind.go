// Package authoring is how resources are written, by import or mutation: Kind describes a
// type of resource, Source is a resource in a file, Validator collects its errors, and Writer
// writes it. It knows no particular resource. It may import store and store/db.
package authoring

import (
	"cmp"
	"context"
	"slices"

	"portico/store"
	"portico/store/db"
)

// A Kind describes how a type of resource is read, written and exported. Each is defined
// with its resource; package exchange lists them all.
type Kind struct {
	Name   string                                                                 // type in a file
	Create func() Source                                                          // returns an empty source
	Write  func(context.Context, *Writer, []Source) (changed []string, err error) // returns the ids of new or changed ones
	Author func(context.Context, *Writer, []Source) (changed []string, err error) // like Write, for mutations; nil to use Write
	Delete func(context.Context, *Writer, []string) (deleted []string, err error) // deletes by id and returns the ids of those that existed. Nil if an import cannot delete
	Export func(context.Context, *Exporter) error                                 // exports all, in an order that import keeps
	Whole  *Table                                                                 // the table, if it stores the whole source by id, so that equal lines can be skipped
	Column string                                                                 // SQL expression of the id in the table; empty for the column id

	Most      int    // how many a shop may have; 0 for no limit. An import checks it before it writes
	After     string // kind to import first; empty for none
	Referred  bool   // others refer to it by id
	Published bool   // releases contain it
	Private   bool   // exported only on request

	Inputs store.PathRenames // members that the input of a mutation names otherwise; see InputPath

	// What the audit log shows. Line writes resources as Export does, without what is recorded apart.
	Line    func(context.Context, *Exporter) error // nil to use Export
	Input   func(line []byte) []byte               // returns the line with members of inputs that Inputs cannot say; nil to use the line
	Ledger  bool                                   // entries are themselves a record: only their number is recorded
	Secrets []string                               // members of a line whose values it masks
}

// InputPath returns the path of a member of a source in the input of the mutation that writes it: translations, fr, name
// for attributes, locales, fr, name. Of a list whose elements have keys it has the key in the place of the position. Members
// that are not among the Inputs have their names within attributes, or that of the link with _id.
func (k Kind) InputPath(path []string) []string {
	switch renamed, found := k.Inputs.Apply(path); {
	case found || len(path) < 2:
		return renamed
	case path[0] == "relationships":
		return []string{path[1] + "_id"}
	case path[0] == "attributes":
		return path[1:]
	}
	return path
}

// Table is the table that has a row for each resource of the kind.
func (k Kind) Table() string {
	if k.Whole != nil {
		return k.Whole.Name
	}
	return k.Name
}

// Lock locks the stored resources with some ids until the write ends.
func (w *Writer) Lock(ctx context.Context, k Kind, ids []string) error {
	column := cmp.Or(k.Column, "id")
	_, err := db.CollectIn(ctx, w.Session, db.Scalar[string], slices.Sorted(slices.Values(store.ValidIDs(ids))),
		`SELECT `+column+` FROM `+k.Table()+` WHERE `+column+` IN ($in) ORDER BY `+column+w.ForUpdate(k.Table()))
	return err
}
