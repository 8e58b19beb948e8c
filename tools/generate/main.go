// Command generate writes graph/generated: gqlgen's code, and beside it what
// graph/plan runs queries by, and examples/cache.json for the caches of
// front ends. It is run in the root of the repository, by
// go generate ./...
package main

import (
	"fmt"
	"os"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	if err := os.Chdir(".."); err != nil { // from tools, whose own module this is
		return err
	}
	cfg, err := config.LoadConfig("gqlgen.yml")
	if err != nil {
		return err
	}
	if err := api.Generate(cfg, api.AddPlugin(planner{})); err != nil {
		return err
	}
	return writeClientCache("examples/cache.json", cfg.Schema)
}
