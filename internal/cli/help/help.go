// Package help describes the command line to people, all from its grammar: --help, the manual page, docs/configuration.md,
// scripts by which shells complete names, and the name that a mistyped one is nearest to. It must not import another
// package of this module.
package help

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// Description is the help of the program.
const Description = "Commerce over GraphQL and REST in one program. Try it: portico serve --demo\n\n" +
	"Each flag can also be set by an environment variable: --log-level by PORTICO_LOG_LEVEL. The flag wins."

// The keys of the groups of flags. Struct tags name them.
const (
	databaseGroup = "database"
	logGroup      = "log"
)

// FlagGroups are the headings above flags.
var FlagGroups = []kong.Group{
	{Key: "from", Title: "From another server:"},
	{Key: "auth", Title: "Authentication:"},
	{Key: "graphql", Title: "GraphQL:"},
	{Key: "cdn", Title: "HTTP caches and CDNs:"},
	{Key: "cache", Title: "Caches:"},
	{Key: "observability", Title: "Observability:"},
	{Key: "http-limits", Title: "HTTP limits:"},
	{Key: "graphql-limits", Title: "GraphQL limits:"},
	{Key: "client-limits", Title: "Limits per client and address:"},
	{Key: "retention", Title: "Retention:"},
	{Key: databaseGroup, Title: "Database:"},
	{Key: logGroup, Title: "Log:"},
}

// IsLimit reports whether a group of flags holds limits.
func IsLimit(group string) bool { return strings.HasSuffix(group, "-limits") }

// GroupKey is the key of a flag's group; empty for none.
func GroupKey(flag *kong.Flag) string {
	if flag.Group == nil {
		return ""
	}
	return flag.Group.Key
}

// HideGroups leaves limits and retention to --help-all. Other flags that few
// people use have the tag hidden.
func HideGroups(k *kong.Kong) error {
	k.Model.HelpFlag.Help = "Show this help."
	for _, command := range k.Model.Leaves(false) {
		for _, flag := range command.Flags {
			if key := GroupKey(flag); IsLimit(key) || key == "retention" {
				flag.Hidden = true
			}
		}
	}
	return nil
}

// Print prints the help of a command, and how many flags it left out.
func Print(options kong.HelpOptions, ctx *kong.Context) error {
	for _, flag := range ctx.Model.Flags {
		flag.Hidden = flag.Name == "help-all" || flag.Name == "version" && ctx.Selected() != nil
	}
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	command := ctx.Selected()
	if command == nil || !command.Leaf() {
		return nil
	}
	hidden := 0
	for _, flag := range command.Flags {
		if flag.Hidden {
			hidden++
		}
	}
	switch hidden {
	case 0:
	case 1:
		fmt.Fprintf(ctx.Stdout, "\n1 more flag: %s --help-all\n", command.FullPath())
	default:
		fmt.Fprintf(ctx.Stdout, "\n%d more flags: %s --help-all\n", hidden, command.FullPath())
	}
	return nil
}

// OfFlag is the help of a flag or an argument, with its default as a sentence.
func OfFlag(value *kong.Value) string {
	if text := defaultText(value); text != "" {
		return value.Help + " Default: " + text + "."
	}
	return value.Help
}

// defaultText is a default as people read it, such as 65536 (64 KiB); empty for
// none.
func defaultText(value *kong.Value) string {
	if value.Flag == nil || value.Flag.PlaceHolder != "BYTES" {
		return value.Default
	}
	n, err := strconv.ParseInt(value.Default, 10, 64)
	switch {
	case err != nil || n < 1<<10:
		return value.Default
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d (%d MiB)", n, n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d (%d KiB)", n, n>>10)
	}
	return value.Default
}
