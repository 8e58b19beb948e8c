// Command schemadiff compares the schema with that of the newest tag, and fails if a change breaks operations or generated
// clients. Run it in the root of the repository.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

const file = "schema.graphqls"

func main() {
	found, err := run(os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemadiff:", err)
		os.Exit(2)
	}
	if found > 0 {
		os.Exit(1)
	}
}

// run prints each breaking change since the newest tag, and returns their number.
func run(out io.Writer) (found int, err error) {
	text, err := exec.Command("git", "tag", "--merged", "HEAD", "--sort=-creatordate").Output()
	if err != nil {
		return 0, fmt.Errorf("git tag: %w", err)
	}
	tag, _, _ := strings.Cut(string(text), "\n")
	if tag == "" {
		fmt.Fprintln(out, "No tag yet, so there is no schema to compare with.")
		return 0, nil
	}
	was, err := exec.Command("git", "show", tag+":"+file).Output()
	if err != nil {
		fmt.Fprintf(out, "%s has no %s, so there is no schema to compare with.\n", tag, file)
		return 0, nil
	}
	is, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return report(out, tag, string(was), string(is))
}

// report prints the breaking changes between two schemas, and returns their number.
func report(out io.Writer, tag, was, is string) (found int, err error) {
	before, err := gqlparser.LoadSchema(&ast.Source{Name: tag, Input: was})
	if err != nil {
		return 0, fmt.Errorf("the schema of %s: %w", tag, err)
	}
	now, err := gqlparser.LoadSchema(&ast.Source{Name: file, Input: is})
	if err != nil {
		return 0, err
	}
	list := breaking(before, now)
	if len(list) == 0 {
		fmt.Fprintf(out, "No breaking schema changes since %s.\n", tag)
		return 0, nil
	}
	fmt.Fprintf(out, "Breaking schema changes since %s: %d\n", tag, len(list))
	for _, change := range list {
		fmt.Fprintln(out, "  "+change)
	}
	return len(list), nil
}
