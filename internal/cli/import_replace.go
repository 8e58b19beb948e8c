package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"portico/store/exchange"
)

// confirmReplace prints what --replace deletes. For more than a tenth of a type, or all of it, it
// needs yes or an answer on the terminal, and otherwise returns an error. It does not ask if the
// import reads from standard input.
func confirmReplace(ctx context.Context, streams Streams, list []exchange.Replacement, yes bool, files []string) error {
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
	if !ask(ctx, terminal, streams.Err, "Delete them? [y/N] ") {
		return fmt.Errorf("nothing was imported")
	}
	return nil
}

// ask asks a question and reads the answer. No answer is no, and so is the end of ctx.
func ask(ctx context.Context, in io.Reader, out io.Writer, question string) (yes bool) {
	fmt.Fprint(out, question)
	answers := make(chan string, 1)
	go func() { // reading a terminal cannot be interrupted
		answer, _ := bufio.NewReader(in).ReadString('\n')
		answers <- strings.ToLower(strings.TrimSpace(answer))
	}()
	select {
	case answer := <-answers:
		return answer == "y" || answer == "yes"
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false
	}
}
