package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// outputWriter remembers the first error of writing to standard output.
type outputWriter struct {
	io.Writer
	err error
}

func (o *outputWriter) Write(text []byte) (int, error) {
	n, err := o.Writer.Write(text)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// check returns an error if a write failed, so that the result of a command that succeeded is lost.
func (o *outputWriter) check() error {
	if o.err == nil {
		return nil
	}
	return &explainedError{fmt.Sprintf("standard output cannot be written, so the result is lost: %v. What the command changed stays", o.err), o.err}
}

// fileOf returns the file that a stream of a command is; nil if it is none.
func fileOf(w io.Writer) *os.File {
	if out, ok := w.(*outputWriter); ok {
		w = out.Writer
	}
	file, _ := w.(*os.File)
	return file
}

func isTerminal(w io.Writer) bool {
	file := fileOf(w)
	return file != nil && term.IsTerminal(int(file.Fd()))
}
