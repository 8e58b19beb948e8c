// Package check tests the structure of the module and its documentation: which package imports which, what packages and
// comments are called, the tables of caches and headers, the pages of docs.
package check

import (
	"os"
	"testing"
)

// TestMain runs the tests at the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
