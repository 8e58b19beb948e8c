package executor

// For tests.
var (
	InputNulls = inputNulls
	IDTypesOf  = func(input, member string) []string { return idKindOf(input, member).types }
	NullClears = nullClears
)
