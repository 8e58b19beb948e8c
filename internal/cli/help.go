package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

const description = "Commerce over GraphQL and REST in one program. Try it: portico serve --demo\n\n" + variableRule

const variableRule = "Each flag can also be set by an environment variable: --log-level by PORTICO_LOG_LEVEL. The flag wins."

// The keys of the groups of flags. Struct tags name them.
const (
	databaseGroup = "database"
	logGroup      = "log"
)

// flagGroups are the headings above flags.
var flagGroups = []kong.Group{
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

// groupKey is the key of a flag's group; empty for none.
func groupKey(flag *kong.Flag) string {
	if flag.Group == nil {
		return ""
	}
	return flag.Group.Key
}

// hideGroups leaves limits and retention to --help-all. Other flags that few
// people use have the tag hidden.
func hideGroups(k *kong.Kong) error {
	k.Model.HelpFlag.Help = "Show this help."
	for _, command := range k.Model.Leaves(false) {
		for _, flag := range command.Flags {
			if key := groupKey(flag); IsLimit(key) || key == "retention" {
				flag.Hidden = true
			}
		}
	}
	return nil
}

// printHelp prints the help of a command, and how many flags it left out.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
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
	if hidden > 0 {
		fmt.Fprintf(ctx.Stdout, "\n%s: %s --help-all\n", count(hidden, "more flag"), command.FullPath())
	}
	return nil
}

// flagHelp is the help of a flag or an argument with its default.
func flagHelp(value *kong.Value) string {
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
