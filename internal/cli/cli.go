// Package cli implements the commands of portico, one file each, except the
// server itself, which internal/app assembles from Serve. Main parses a command
// line by a kong grammar and runs the command that it names. Results go to
// standard output, everything else to standard error. Package cli must not
// import graph or rest.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"portico/internal/cli/help"
	"portico/store"
	"portico/store/access"
	"portico/store/promotion/code"
)

// Main parses args by a kong grammar, runs the command, and returns the exit
// code, which is not 0 if standard output cannot be written. Without args it prints the help. The Run method of a command can take a
// context.Context, the Streams, the *kong.Context, and the values of given, each
// by its type.
func Main(ctx context.Context, grammar any, args []string, streams Streams, given ...any) int {
	out := &outputWriter{Writer: streams.Out}
	streams.Out = out
	exitCode := runCommand(ctx, grammar, args, streams, given)
	if exitCode == ExitOK {
		exitCode = printError(streams.Err, nil, out.check())
	}
	return exitCode
}

// runCommand is Main without the check of standard output. Kong calls kong.Exit
// after --help and --version, which panics with an exit that runCommand recovers.
func runCommand(ctx context.Context, grammar any, args []string, streams Streams, given []any) (exitCode int) {
	parser, err := Parser(grammar, streams)
	if err != nil {
		fmt.Fprintln(streams.Err, "portico:", err)
		return ExitFailure
	}
	defer func() {
		switch stop := recover().(type) {
		case nil:
		case exit:
			exitCode = int(stop)
		default:
			panic(stop)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if err != nil {
		var parseError *kong.ParseError
		if errors.As(err, &parseError) {
			command = parseError.Context
		}
		return printError(streams.Err, command, &UsageError{help.DidYouMean(err.Error(), args, command)})
	}
	if err := checkEnvironment(parser, streams.Env); err != nil {
		return printError(streams.Err, command, err)
	}
	command.BindTo(ctx, (*context.Context)(nil))
	command.Bind(append(given, streams)...)
	err = command.Run()
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		left := "What was already written stays. Run the command again to finish"
		if errors.Is(err, errUnwritten) {
			left = "Nothing was imported. Run the command again"
		}
		err = errors.New("interrupted. " + left)
	}
	return printError(streams.Err, command, err)
}

// Parser returns the parser for a kong grammar.
func Parser(grammar any, streams Streams) (*kong.Kong, error) {
	return kong.New(grammar,
		kong.Name("portico"),
		kong.Description(help.Description),
		kong.DefaultEnvars("PORTICO"),
		kong.Vars{"scopes": strings.Join(access.Scopes(), ","), "scopeList": strings.Join(access.Scopes(), ", "), "codePattern": code.DefaultCodePattern,
			"auditKinds": joined(store.AuditKinds(), ","), "auditKindList": joined(store.AuditKinds(), ", "),
			"auditActions": joined(store.AuditActions(), ","), "auditActionList": joined(store.AuditActions(), ", ")},
		kong.Writers(streams.Out, streams.Err),
		kong.ExplicitGroups(help.FlagGroups),
		kong.PostBuild(help.HideGroups),
		kong.Help(help.Print),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100}),
		kong.ValueFormatter(help.OfFlag),
		kong.Exit(func(exitCode int) { panic(exit(exitCode)) }), // ends Parse after --help and --version
	)
}

// joined joins names.
func joined[T ~string](names []T, separator string) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, separator)
}

// exit carries an exit code out of Parse.
type exit int

// printError prints err, if any, and returns its exit code.
func printError(w io.Writer, command *kong.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	var usage *UsageError
	if !errors.As(err, &usage) {
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
