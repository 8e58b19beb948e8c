package db

import (
	"cmp"
	"errors"
	"strings"

	"portico/store/db/schema"
)

// OpenError says which database could not be opened.
type OpenError struct {
	Database string // without credentials
	Err      error
}

// newOpenError makes Database of the text of Dialect.Describe, without the kind of database.
func newOpenError(described string, err error) *OpenError {
	return &OpenError{strings.TrimPrefix(strings.TrimPrefix(described, "SQLite "), "PostgreSQL "), err}
}

func (e *OpenError) Error() string { return "open " + e.Database + ": " + e.Err.Error() }

func (e *OpenError) Unwrap() error { return e.Err }

// Explain returns a sentence for the operator that says what is wrong with the
// database and how to fix it; ok is false for any other error. explainDriver does the same for the errors of the drivers.
func Explain(err error, explainDriver func(err error, name string) string) (sentence string, ok bool) {
	name := "the database"
	var opening *OpenError
	if errors.As(err, &opening) {
		name = opening.Database
	}
	sentence = cmp.Or(schema.Explain(err, name), explainDriver(err, name))
	return sentence, sentence != ""
}
