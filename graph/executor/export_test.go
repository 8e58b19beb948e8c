package executor

// For tests.
var (
	InputNulls = inputNulls
	NullClears = nullClears
)
