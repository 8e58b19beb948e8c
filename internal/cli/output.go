package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// Streams are the standard input, output and error of a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	Env []string // each PORTICO_ variable in it must belong to a flag; nil skips the check
}

// Output is the flag of commands that print a result.
type Output struct {
	JSON bool `name:"json" help:"Print the result as JSON."`
}

// print prints a result: as one line of JSON with --json, else as its String
// method formats it.
func (o Output) print(streams Streams, result fmt.Stringer) error {
	if o.JSON {
		return o.printJSON(streams, result)
	}
	_, err := fmt.Fprintln(streams.Out, strings.TrimSuffix(result.String(), "\n"))
	return err
}

// printJSON prints a result with --json only.
func (o Output) printJSON(streams Streams, result any) error {
	if !o.JSON {
		return nil
	}
	encoder := json.NewEncoder(streams.Out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(result)
}

// printLine prints a line of the result without --json only.
func (o Output) printLine(streams Streams, text string) {
	if !o.JSON {
		fmt.Fprintln(streams.Out, text)
	}
}

// jsonHelp is the part of a command's help that shows what --json prints.
func jsonHelp(example any) string { return "With --json:\n\n    " + jsonExample(example) }

func jsonExample(example any) string {
	text, err := json.MarshalIndent(example, "    ", "  ")
	if err != nil {
		panic(err) // an example that a test has seen
	}
	return string(text)
}

// table formats rows in columns, with each cell made printable in place.
func table(rows [][]string) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable(cell)
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a strings.Builder does not fail
	return text.String()
}

// printable quotes a text that a terminal would not show as text.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// timestamp formats a time; nil for the zero time.
func timestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.Format(time.RFC3339)
	return &text
}

func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

// count is "1 product" or "2 products".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
