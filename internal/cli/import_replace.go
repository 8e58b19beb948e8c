package cli

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"portico/store/exchange"
)

// confirm prints what --replace deletes. For more than a tenth of a type, or all of it, it needs
// --yes or an answer on the terminal, and otherwise returns an error.
func (c *Import) confirm(streams Streams, list []exchange.Replacement) error {
	many := false
	for _, r := range list {
		fmt.Fprintf(streams.Err, "--replace %s deletes %d of %d\n", r.Type, r.Deleted, r.All)
		many = many || r.Deleted > 0 && (r.Deleted*10 > r.All || r.Deleted == r.All)
	}
	if !many || c.Yes {
		return nil
	}
	input, isFile := streams.In.(*os.File)
	if !isFile || !term.IsTerminal(int(input.Fd())) || slices.Contains(c.Files, "-") {
		return fmt.Errorf("this is more than a tenth, or all. Nothing was imported. Add --yes to delete them, or see them with --dry-run")
	}
	fmt.Fprint(streams.Err, "Delete them? [y/N] ")
	answer, _ := bufio.NewReader(input).ReadString('\n') // no answer is no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return fmt.Errorf("nothing was imported")
	}
	return nil
}
