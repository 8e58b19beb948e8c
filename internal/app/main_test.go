package app

import (
	"context"
	"os"
	"testing"

	"portico/internal/cli"
	"portico/store/storetest/dbtest"
)

// schema is the text of schema.graphqls.
var schema string

// TestMain runs the tests at the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	text, err := os.ReadFile("schema.graphqls")
	if err != nil {
		panic(err)
	}
	schema = string(text)
	dbtest.Main(m)
}

// runProgram runs a command line.
func runProgram(ctx context.Context, args []string, streams cli.Streams) (code int) {
	return Run(ctx, args, streams, schema)
}
