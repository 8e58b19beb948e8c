package shop

import "context"

// A kind is a type of resource: how a file holds it, how it is written and
// exported, and what it is to others. Each stands with its noun; import,
// export and authoring know no other list than kinds.
type kind struct {
	name   string                                                                  // the resource's type, as a file spells it
	create func() source                                                           // an empty one, to be read into
	write  func(*importWriter, context.Context, []source) (changed int, err error) // tells how many were new or different
	author func(*importWriter, context.Context, []source) (changed int, err error) // write for a mutation; nil where that is the same
	export func(*exporter, context.Context) error                                  // all there are, in an order in which import finds the same store
	whole  *sourceTable                                                            // of one that is kept as one body by id, so that an equal line need not be written; else nil

	after     string // the kind whose lines are written first, wherever they stand in a file; empty for none
	referred  bool   // others refer to it, by the id in the table of its name
	published bool   // a release is made of it
	private   bool   // left out of an export unless asked for
}
