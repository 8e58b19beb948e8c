package document

import (
	"unsafe"

	"github.com/99designs/gqlgen/graphql"

	"portico/internal/heapsize"
)

// PreparedOperation is a query that was read, measured, validated and planned. The same
// bytes, sent again, run at once; so nothing of it changes.
type PreparedOperation struct {
	*Operation
	ID               uint64            // no other request ever has
	Params           graphql.RawParams // as the caller wrote them, but for what nothing here reads
	Variables        map[string]any    // as the library has them
	Plan             *CachedPlan
	Introspects      bool     // it asks for the schema too
	ResponseEnd      string   // what stands behind the data
	CacheCoordinates []string // what must be allowed before a kept answer is given; nil where none may be kept
}

// size is the memory that a prepared request takes, without its plan and its
// document.
func (q *PreparedOperation) size() int {
	return int(unsafe.Sizeof(*q)+unsafe.Sizeof(*q.Operation)+unsafe.Sizeof(*q.Cost)) + heapsize.Round(len(q.ResponseEnd)) +
		heapsize.Of(q.Variables, q.Params.Extensions, q.CacheCoordinates, q.Allowance.RowCosts)
}
