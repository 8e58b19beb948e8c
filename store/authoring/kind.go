// Package authoring is how a noun is written, by import or by mutation: its
// kind, the checks of a source, the writer of a transaction, and what it tells
// of changes. It knows no noun. It may import the words of store and store/db.
package authoring

import "context"

// A Kind is a type of resource: how a file holds it, how it is written and
// exported, and what it is to others. Each stands with its noun; import,
// export and authoring know no other list than kinds.
type Kind struct {
	Name   string                                                            // the resource's type, as a file spells it
	Create func() Source                                                     // an empty one, to be read into
	Write  func(context.Context, *Writer, []Source) (changed int, err error) // tells how many were new or different
	Author func(context.Context, *Writer, []Source) (changed int, err error) // write for a mutation; nil where that is the same
	Export func(context.Context, *Exporter) error                            // all there are, in an order in which import finds the same store
	Whole  *Table                                                            // of one that is kept as one body by id, so that an equal line need not be written; else nil

	After     string // the kind whose lines are written first, wherever they stand in a file; empty for none
	Referred  bool   // others refer to it, by the id in the table of its name
	Published bool   // a release is made of it
	Private   bool   // left out of an export unless asked for
}
