package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"modernc.org/sqlite"
)

// Visit calls visit for each row of a query by keys, which has the columns key and body. body is valid
// until visit returns, and may be the memory of the database: on SQLite no row is copied. visit must not
// use the database, must not keep body, and must give the same result when the query starts again with
// its first row. Like Session.Keyed it does not watch ctx.
func Visit(ctx context.Context, s Session, visit func(key int64, body []byte) error, query string, args ...any) error {
	s = s.Keyed()
	if !s.keyed {
		_, err := Collect(ctx, s, func(rows *sql.Rows) (none struct{}, err error) {
			var key int64
			var body sql.RawBytes
			if err := rows.Scan(&key, &body); err != nil {
				return none, err
			}
			return none, visit(key, body)
		}, query, args...)
		return err
	}
	visited := &rowVisit{visit: visit}
	number := rowVisits.add(visited)
	defer rowVisits.remove(number)
	_, err := Collect(ctx, s, Scalar[int], `SELECT COUNT(*) FROM (`+query+`) WHERE `+visitFunction+`(key, body, $`+strconv.Itoa(len(args)+1)+`)`,
		append(slices.Clip(args), number)...)
	if visited.panicked != nil {
		panic(visited.panicked)
	}
	if visited.err != nil {
		return visited.err
	}
	return err
}

// visitFunction is the SQL function that calls a rowVisit. It is true for every row.
const visitFunction = "portico_visit"

// registerVisits makes visitFunction known to the connections that are opened afterwards.
var registerVisits = sync.OnceValue(func() error {
	return sqlite.RegisterFunction(visitFunction, &sqlite.FunctionImpl{NArgs: 3, Scalar: visitRow, VolatileArgs: true})
})

// rowVisit is a running Visit.
type rowVisit struct {
	visit    func(key int64, body []byte) error
	err      error // of visit
	panicked any   // by visit: a panic must not pass through the frames of SQLite
}

var errVisitEnded = errors.New("visit failed")

func visitRow(_ *sqlite.FunctionContext, args []driver.Value) (value driver.Value, err error) {
	number, _ := args[2].(int64)
	v := rowVisits.get(number)
	if v == nil {
		return nil, fmt.Errorf("%s: %v is not the number of a visit", visitFunction, args[2])
	}
	defer func() {
		if v.panicked = recover(); v.panicked != nil {
			err = errVisitEnded
		}
	}()
	key, _ := args[0].(int64)
	body, _ := args[1].([]byte)
	if v.err = v.visit(key, body); v.err != nil {
		return nil, errVisitEnded
	}
	return int64(1), nil
}

// rowVisits are the running visits of all databases.
var rowVisits visitNumbers

// visitNumbers gives visits numbers, which SQL can pass on.
type visitNumbers struct {
	mu      sync.Mutex
	running []*rowVisit // by number; nil is free
}

func (n *visitNumbers) add(v *rowVisit) (number int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := slices.Index(n.running, nil)
	if at < 0 {
		at, n.running = len(n.running), append(n.running, nil)
	}
	n.running[at] = v
	return int64(at)
}

func (n *visitNumbers) get(number int64) *rowVisit {
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
