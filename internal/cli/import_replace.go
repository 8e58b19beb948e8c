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

// confirmReplace prints what --replace deletes. For more than a tenth of a type, or all of it, it
// needs yes or an answer on the terminal, and otherwise returns an error. It does not ask if the
// import reads from standard input.
func confirmReplace(streams Streams, list []exchange.Replacement, yes bool, files []string) error {
	many := false
	for _, r := range list {
		fmt.Fprintf(streams.Err, "--replace %s deletes %d of %d\n", r.Type, r.Deleted, r.All)
		many = many || r.Deleted > 0 && (r.Deleted*10 > r.All || r.Deleted == r.All)
	}
	if !many || yes {
		return nil
	}
	terminal, isFile := streams.In.(*os.File)
	if !isFile || !term.IsTerminal(int(terminal.Fd())) || slices.Contains(files, "-") {
		return fmt.Errorf("this is more than a tenth, or all. Nothing was imported. Add --yes to delete them, or see them with --dry-run")
	}
	fmt.Fprint(streams.Err, "Delete them? [y/N] ")
	answer, _ := bufio.NewReader(terminal).ReadString('\n') // no answer is no
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return fmt.Errorf("nothing was imported")
	}
	return nil
}
