// Command contract compares the schema with that of the newest tag, and fails
// where an operation that was good then may not be any more. It is run in the
// repository's folder.
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
		fmt.Fprintln(os.Stderr, "contract:", err)
		os.Exit(2)
	}
	if found > 0 {
		os.Exit(1)
	}
}

// run prints each breaking change since the newest tag, and counts them.
func run(out io.Writer) (found int, err error) {
	text, err := exec.Command("git", "tag", "--merged", "HEAD", "--sort=-creatordate").Output()
	if err != nil {
		return 0, fmt.Errorf("git tag: %w", err)
	}
	tag, _, _ := strings.Cut(string(text), "\n")
	if tag == "" {
		fmt.Fprintln(out, "There is no tag yet, so there is no schema that must not be broken.")
		return 0, nil
	}
	was, err := exec.Command("git", "show", tag+":"+file).Output()
	if err != nil {
		fmt.Fprintf(out, "%s has no %s, so there is no schema that must not be broken.\n", tag, file)
		return 0, nil
	}
	is, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return report(out, tag, string(was), string(is))
}

// report prints what breaks between two schemas, and counts it.
func report(out io.Writer, tag, was, is string) (found int, err error) {
	before, err := gqlparser.LoadSchema(&ast.Source{Name: tag, Input: was})
	if err != nil {
		return 0, fmt.Errorf("the schema of %s: %w", tag, err)
	}
	now, err := gqlparser.LoadSchema(&ast.Source{Name: file, Input: is})
	if err != nil {
		return 0, err
	}
	changes := breaking(before, now)
	if len(changes) == 0 {
		fmt.Fprintf(out, "Whatever could be asked at %s can be asked still.\n", tag)
		return 0, nil
	}
	fmt.Fprintf(out, "Since %s the schema breaks those who use it, in %d places:\n", tag, len(changes))
	for _, change := range changes {
		fmt.Fprintln(out, "  "+change)
	}
	return len(changes), nil
}
