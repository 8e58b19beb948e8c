package graph

import (
	"fmt"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/store"
)

// Bounds are how much a document and its variables may ask for. Most are
// held before validation, whose rules grow with the square of what some
// documents hold; Cost before anything runs; Values and Nesting before
// anything is decoded.
type Bounds struct {
	Bytes      int // of the document's text
	Tokens     int // of the document
	Depth      int // of fields within fields
	Name       int // bytes of a name or an alias: answers and errors repeat them
	Fields     int // selections of all operations, each fragment counted wherever it is spread
	RootFields int // fields at the root of an operation
	Aliases    int // names in one selection set of the answer, which the executor compares
	Repeats    int // sum of the squares of how often each field of the answer is selected
	Operations int
	Fragments  int
	Variables  int // definitions of variables
	Directives int
	Steps      int // selections and values that validation reads: a fragment again for whatever reaches it
	Cost       int // what running the operation comes to: see cost.go
	Values     int // values of a request's JSON, at all depths
	Nesting    int // lists and objects within each other in a request's JSON
}

// DefaultBounds let pass what a shop front, a generator of types or an
// importer of codes really sends.
func DefaultBounds() Bounds {
	return Bounds{
		Bytes:      256 << 10,
		Tokens:     15_000,
		Depth:      20,
		Name:       96,
		Fields:     5_000,
		RootFields: 500,
		Aliases:    500,
		Repeats:    100_000,
		Operations: 100,
		Fragments:  500,
		Variables:  250,
		Directives: 500,
		Steps:      50_000,
		Cost:       60_000,
		Values:     200_000,
		Nesting:    500,
	}
}

// bound is one of the Bounds, held against a document. what has a place for
// the count.
type bound struct {
	what    string
	n, most int
	way     string
}

// of says that something is over the bound.
func (b bound) of(something string) string {
	return fmt.Sprintf("%s %s; at most %d are allowed: %s.", something, fmt.Sprintf(b.what, b.n), b.most, b.way)
}

// check refuses a document that is over the bound.
func (b bound) check() *gqlerror.Error {
	if b.n <= b.most {
		return nil
	}
	return &gqlerror.Error{Message: b.of("The document"), Extensions: map[string]any{"code": store.Unprocessable}}
}

// checkAll is the first refusal.
func checkAll(bounds ...bound) *gqlerror.Error {
	for _, b := range bounds {
		if fault := b.check(); fault != nil {
			return fault
		}
	}
	return nil
}
