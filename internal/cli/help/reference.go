package help

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// flagSection is the flags of a command under one heading.
type flagSection struct {
	title string
	flags []*kong.Flag
}

// flagSections returns the flags of a command by group, in the order of --help,
// without the flags of all commands. Those of config are its own: it embeds the
// flags of serve, which the reference lists once.
func flagSections(model *kong.Application, command *kong.Node) (sections []flagSection) {
	flags := command.Flags
	if command.Path() == "config" {
		serve := findCommand(model, "serve")
		flags = slices.DeleteFunc(slices.Clone(flags), func(flag *kong.Flag) bool {
			return slices.ContainsFunc(serve.Flags, func(other *kong.Flag) bool { return other.Name == flag.Name })
		})
	}
	var general flagSection
	for _, flag := range flags {
		if flag.Group == nil {
			general.flags = append(general.flags, flag)
		}
	}
	for _, group := range FlagGroups {
		section := flagSection{title: strings.TrimSuffix(group.Title, ":")}
		for _, flag := range flags {
			if GroupKey(flag) == group.Key && !isStoreGroup(group.Key) {
				section.flags = append(section.flags, flag)
			}
		}
		sections = append(sections, section)
	}
	return append([]flagSection{general}, sections...)
}

// isStoreGroup reports whether a group is one of the flags that all commands with a database share.
func isStoreGroup(key string) bool { return key == databaseGroup || key == logGroup }

// storeFlags returns the flags of a command that all commands with a database
// share.
func storeFlags(command *kong.Node) (flags []*kong.Flag) {
	for _, flag := range command.Flags {
		if isStoreGroup(GroupKey(flag)) {
			flags = append(flags, flag)
		}
	}
	return flags
}

// findCommand returns the command with a path such as "client create".
func findCommand(model *kong.Application, path string) *kong.Node {
	for _, command := range model.Leaves(true) {
		if command.Path() == path {
			return command
		}
	}
	return nil
}

// units are the units of flags, by placeholder.
var units = map[string]string{
	"BYTES": "bytes", "MIB": "MiB", "N": "number", "DURATION": "duration", "DAYS": "days", "HOURS": "hours", "FILE": "path",
	"HOST:PORT": "address", "CIDR": "network", "URL": "URL", "NAME": "text", "KEY": "base64", "PRODUCTS": "number",
}

// unit describes the values of a flag.
func unit(flag *kong.Flag) string {
	switch {
	case flag.IsBool():
		return "on or off"
	case flag.Enum != "" && flag.Target.Kind() != reflect.Slice:
		return strings.ReplaceAll(flag.Enum, ",", ", ")
	}
	return cmp.Or(units[flag.PlaceHolder], strings.ToLower(flag.PlaceHolder), "text")
}

const markdownHead = `# Configuration

The flags of all commands. ` + "`portico COMMAND --help`" + ` prints the same.
This page is generated: after a change of a flag, run
` + "`go run . man --markdown > docs/configuration.md`" + `.

- Each flag can also be set by an environment variable, which the tables name. The flag wins.
- Durations are numbers with a unit, for example ` + "`300ms`, `10s`, `2m` or `24h`" + `.
- 0 is explained where it is allowed. For the other GraphQL limits it means the default.
- In the names of flags, ` + "`answer`" + ` means response.
- ` + "`portico config`" + ` takes all flags of ` + "`serve`" + ` and prints the effective values, where each comes from,
  and the other environment variables that matter, with secrets masked.
- Results go to standard output, errors and logs to standard error.
  The exit code is 0 on success, 1 if the command fails, and 2 if the command line or a variable is wrong.
`

// Markdown is the reference of all commands as a page in Markdown.
func Markdown(model *kong.Application) string {
	var w strings.Builder
	w.WriteString(markdownHead + "\n")
	for _, command := range model.Leaves(true) {
		fmt.Fprintf(&w, "- %s: %s\n", headingLink("portico "+command.Path()), command.Help)
		if command.Path() == "serve" {
			links := []string{}
			for _, section := range flagSections(model, command) {
				if len(section.flags) > 0 && section.title != "" {
					links = append(links, headingLink(section.title))
				}
			}
			fmt.Fprintf(&w, "  - %s\n", strings.Join(append(links, headingLink(storeTitle)), " · "))
		}
	}
	for _, command := range model.Leaves(true) {
		fmt.Fprintf(&w, "\n## portico %s\n\n%s\n", command.Path(), command.Help)
		if command.Detail != "" {
			fmt.Fprintf(&w, "\n%s\n", wrap(command.Detail, 100))
		}
		if len(command.Positional) > 0 {
			w.WriteString("\n| Argument | Effect |\n|---|---|\n")
			for _, arg := range command.Positional {
				fmt.Fprintf(&w, "| `%s` | %s |\n", arg.Summary(), markdownCell(arg.Help))
			}
		}
		for _, section := range flagSections(model, command) {
			if len(section.flags) == 0 {
				continue
			}
			if section.title != "" {
				fmt.Fprintf(&w, "\n### %s\n", section.title)
			}
			markdownFlags(&w, section.flags)
		}
		if command.Path() == "serve" {
			fmt.Fprintf(&w, "\n### %s\n\nAll commands that open the database have these flags.\n", storeTitle)
			markdownFlags(&w, storeFlags(command))
		}
	}
	return w.String()
}

// storeTitle is the heading above the flags that all commands with a database share.
const storeTitle = "Database and log"

// headingLink is a link to a heading of the page.
func headingLink(title string) string {
	return "[" + title + "](#" + strings.ReplaceAll(strings.ToLower(title), " ", "-") + ")"
}

// markdownFlags writes the table of flags.
func markdownFlags(w *strings.Builder, flags []*kong.Flag) {
	w.WriteString("\n| Flag | Variable | Default | Unit | Effect |\n|---|---|---|---|---|\n")
	for _, flag := range flags {
		value := "none"
		switch {
		case flag.Required:
			value = "required"
		case flag.IsBool():
			value = "off"
		case flag.HasDefault:
			value = "`" + flag.Default + "`"
			if text := defaultText(flag.Value); text != flag.Default {
				value += strings.TrimPrefix(text, flag.Default)
			}
		}
		fmt.Fprintf(w, "| `--%s` | `%s` | %s | %s | %s |\n", flag.Name, strings.Join(flag.Envs, " "), value, unit(flag), markdownCell(flag.Help))
	}
}

// markdownCell escapes a text for a cell of a table.
func markdownCell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "#", `\#`).Replace(text)
}

// wrap breaks the paragraphs of a text into lines of at most width bytes.
// Indented paragraphs stay.
func wrap(text string, width int) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, paragraph := range paragraphs {
		if strings.HasPrefix(paragraph, " ") {
			continue
		}
		var lines []string
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		paragraphs[i] = strings.Join(append(lines, line), "\n")
	}
	return strings.Join(paragraphs, "\n\n")
}
