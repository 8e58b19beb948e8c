package drivers

import (
	"database/sql/driver"
	"sync"

	"modernc.org/sqlite"

	"portico/store/db/dialect"
)

// registerVisits makes dialect.VisitFunction known to the connections that are opened afterwards.
var registerVisits = sync.OnceValue(func() error {
	return sqlite.RegisterFunction(dialect.VisitFunction, &sqlite.FunctionImpl{NArgs: 3, Scalar: visitRow, VolatileArgs: true})
})

// visitRow is dialect.VisitFunction. Its arguments are key, body and the number of the visit.
func visitRow(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	key, _ := args[0].(int64)
	body, _ := args[1].([]byte)
	number, ok := args[2].(int64)
	if !ok {
		number = -1
	}
	return int64(1), dialect.VisitRow(number, key, body)
}
