package cli

import (
	"fmt"
	"slices"

	"github.com/alecthomas/kong"
)

// Builtin are the commands and flags that describe the program.
type Builtin struct {
	Help       Help       `cmd:"" help:"Print the help of a command."`
	Man        Man        `cmd:"" help:"Print the manual page."`
	Completion Completion `cmd:"" help:"Print a completion script for a shell."`
	Version    Version    `cmd:"" help:"Print the version."`

	HelpAll     helpAllFlag `env:"-" help:"Show help with all flags."`
	VersionFlag versionFlag `name:"version" env:"-" help:"Print the version."`
}

// Help prints the help of a command.
type Help struct {
	Command []string `arg:"" optional:"" help:"The command, for example: client create."`
}

// Run prints the help.
func (c *Help) Run(command *kong.Context) error {
	if _, err := command.Kong.Parse(append(slices.Clone(c.Command), "--help")); err != nil {
		return &UsageError{err.Error()}
	}
	return nil
}

// helpAllFlag shows the hidden flags too.
type helpAllFlag bool

// IgnoreDefault implements kong.IgnoreDefault: the flag works without a command.
func (helpAllFlag) IgnoreDefault() {}

// BeforeReset prints the help and exits.
func (helpAllFlag) BeforeReset(ctx *kong.Context) error {
	if command := ctx.Selected(); command != nil {
		for _, flag := range command.Flags {
			flag.Hidden = false
		}
	}
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	ctx.Exit(ExitOK)
	return nil
}

// versionFlag prints the version, as the command version does.
type versionFlag bool

// IgnoreDefault implements kong.IgnoreDefault: the flag works without a command.
func (versionFlag) IgnoreDefault() {}

// BeforeReset prints the version and exits.
func (versionFlag) BeforeReset(ctx *kong.Context) error {
	fmt.Fprintln(ctx.Stdout, currentVersion())
	ctx.Exit(ExitOK)
	return nil
}
