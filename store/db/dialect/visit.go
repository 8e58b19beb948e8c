package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// VisitFunction is the SQL function that calls a Visit with a key and a body. It is true for every row.
const VisitFunction = "portico_visit"

// Visit is a visit of rows in one statement. SQL names it by its number, because it cannot pass a Go value.
type Visit struct {
	Number   int64
	visit    func(key int64, body []byte) error
	err      error // of visit
	panicked any   // by visit: a panic must not pass through the frames of SQLite
}

// StartVisit registers a visit until End.
func StartVisit(visit func(key int64, body []byte) error) *Visit {
	v := &Visit{visit: visit}
	v.Number = rowVisits.add(v)
	return v
}

// End forgets the visit.
func (v *Visit) End() { rowVisits.remove(v.Number) }

// Result returns the error of the visit, or else err, that of its statement. It panics if the visit did.
func (v *Visit) Result(err error) error {
	if v.panicked != nil {
		panic(v.panicked)
	}
	return cmp.Or(v.err, err)
}

// errVisitEnded ends the statement of a visit that failed or panicked. Result returns the cause.
var errVisitEnded = errors.New("visit failed")

// VisitRow calls the visit with a number. VisitFunction calls it for each row.
func VisitRow(number, key int64, body []byte) (err error) {
	v := rowVisits.get(number)
	if v == nil {
		return fmt.Errorf("%s: %v is not the number of a visit", VisitFunction, number)
	}
	defer func() {
		if v.panicked = recover(); v.panicked != nil {
			err = errVisitEnded
		}
	}()
	if v.err = v.visit(key, body); v.err != nil {
		return errVisitEnded
	}
	return nil
}

// rowVisits are the running visits of all databases.
var rowVisits visitNumbers

// visitNumbers gives visits numbers, which SQL can pass on.
type visitNumbers struct {
	mu      sync.Mutex
	running []*Visit // by number; nil is free
}

func (n *visitNumbers) add(v *Visit) (number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := slices.Index(n.running, nil)
	if at < 0 {
		at, n.running = len(n.running), append(n.running, nil)
	}
	n.running[at] = v
	return int64(at)
}

func (n *visitNumbers) get(number int64) *Visit {
	n.mu.Lock()
	defer n.mu.Unlock()
	if number < 0 || number >= int64(len(n.running)) {
		return nil
	}
	return n.running[number]
}

func (n *visitNumbers) remove(number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.running[number] = nil
}
