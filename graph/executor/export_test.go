package executor

// For tests.
var (
	InputNulls   = inputNulls
	IDTypesOf    = func(mutation, input, member string) []string { return idKindOf(mutation, input, member).types }
	NullClears   = nullClears
	SharedInputs = sharedInputs
)
