// Package cli is the commands of portico, one file each, and what they share:
// the flags that every command takes, how a command line becomes an exit
// code, progress on a terminal. Answers go to standard output, everything
// else to standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"portico/store/access"
	"portico/store/promotion/code"
)

// The exit codes.
const (
	ExitOK      = 0
	ExitFailure = 1 // the command could not do its work
	ExitUsage   = 2 // the command line, or the environment in its place, is wrong
)

// Streams are a command's standard input, output and error.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer

	Env []string // variables of the environment of which each PORTICO_ one must be a flag's; nil checks none
}

// Usage says what is wrong with a command line.
type Usage struct{ Reason string }

func (u *Usage) Error() string { return u.Reason }

func usage(format string, args ...any) error { return &Usage{fmt.Sprintf(format, args...)} }

// Main parses args by a kong grammar, runs the command that is named, and
// answers with the exit code. The method Run of a command may ask for a
// context.Context, the Streams, the *kong.Context and what else is given, each
// by its type. Every flag can be given by the environment too: --log-level by
// PORTICO_LOG_LEVEL.
func Main(ctx context.Context, grammar any, args []string, streams Streams, given ...any) (code int) {
	parser, err := Parser(grammar, streams)
	if err != nil {
		fmt.Fprintln(streams.Err, "portico:", err)
		return ExitFailure
	}
	defer func() {
		switch stop := recover().(type) {
		case nil:
		case exited:
			code = int(stop)
		default:
			panic(stop)
		}
	}()
	command, err := parser.Parse(args)
	if err != nil {
		var wrong *kong.ParseError
		if errors.As(err, &wrong) {
			command = wrong.Context
		}
		return complain(streams.Err, command, &Usage{err.Error()})
	}
	if err := checkEnvironment(parser, streams.Env); err != nil {
		return complain(streams.Err, command, err)
	}
	command.BindTo(ctx, (*context.Context)(nil))
	command.Bind(append(given, streams)...)
	err = command.Run()
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; what was written stays, run the command again to finish it")
	}
	return complain(streams.Err, command, err)
}

// Parser reads command lines by a kong grammar.
func Parser(grammar any, streams Streams) (*kong.Kong, error) {
	return kong.New(grammar,
		kong.Name("portico"),
		kong.Description("A commerce service over GraphQL and REST, in one binary. Every flag can be given by the environment too, as its help says."),
		kong.DefaultEnvars("PORTICO"),
		kong.Vars{"scopes": strings.Join(access.Scopes(), ","), "codePattern": code.DefaultCodePattern},
		kong.Writers(streams.Out, streams.Err),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}),
		kong.Exit(func(code int) { panic(exited(code)) }), // after --help, which ends the parsing
	)
}

// exited ends a command line that was a request for help.
type exited int

// complain tells what went wrong, if anything did, and the exit code for it.
func complain(w io.Writer, command *kong.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	var wrong *Usage
	if !errors.As(err, &wrong) {
		fmt.Fprintln(w, "portico:", explain(err))
		return ExitFailure
	}
	fmt.Fprintln(w, "portico:", err)
	name := "portico"
	if command != nil && command.Selected() != nil {
		name = command.Selected().FullPath()
	}
	fmt.Fprintf(w, "See: %s --help\n", name)
	return ExitUsage
}

// Given tells whether a flag was given, in words or by the environment,
// rather than left to its default.
func Given(command *kong.Context, flag string) bool {
	for _, f := range command.Flags() {
		if f.Name == flag {
			return origin(command, f) != fromDefault
		}
	}
	return false
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
