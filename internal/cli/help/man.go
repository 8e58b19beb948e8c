package help

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// ManualPage is the manual page of all commands, with the macros of man(7).
func ManualPage(model *kong.Application) string {
	var w strings.Builder
	fmt.Fprintf(&w, ".TH PORTICO 1\n.SH NAME\nportico \\- commerce service over GraphQL and REST\n"+
		".SH SYNOPSIS\n.B portico\n.I command\n[\n.I flags\n]\n.SH DESCRIPTION\n%s\n.SH COMMANDS\n", strings.ReplaceAll(roffText(model.Help), "\n\n", "\n.PP\n"))
	for _, command := range model.Leaves(true) {
		fmt.Fprintf(&w, ".SS portico %s\n%s\n", roffText(command.Summary()), roffText(command.Help))
		for paragraph := range strings.SplitSeq(command.Detail, "\n\n") {
			if code, ok := strings.CutPrefix(paragraph, "    "); ok {
				fmt.Fprintf(&w, ".PP\n.EX\n%s\n.EE\n", roffText(strings.ReplaceAll(code, "\n    ", "\n")))
			} else if paragraph != "" {
				fmt.Fprintf(&w, ".PP\n%s\n", roffText(paragraph))
			}
		}
		for _, arg := range command.Positional {
			fmt.Fprintf(&w, ".TP\n.I %s\n%s\n", roffText(arg.Summary()), roffText(arg.Help))
		}
		for _, section := range flagSections(model, command) {
			roffFlags(&w, section.flags)
		}
		if len(storeFlags(command)) > 0 {
			w.WriteString(".PP\nThe flags under DATABASE AND LOG apply too.\n")
		}
	}
	w.WriteString(".SH DATABASE AND LOG\n")
	roffFlags(&w, storeFlags(findCommand(model, "serve")))
	w.WriteString(".SH EXIT STATUS\n.TP\n.B 0\nSuccess.\n.TP\n.B 1\nThe command failed.\n.TP\n.B 2\n" +
		"The command line or an environment variable is wrong.\n")
	return w.String()
}

// roffFlags writes a paragraph for each flag.
func roffFlags(w *strings.Builder, flags []*kong.Flag) {
	for _, flag := range flags {
		name := roffText("--" + flag.Name)
		if !flag.IsBool() {
			name += `=\fI` + roffText(flag.FormatPlaceHolder()) + `\fR`
		}
		fmt.Fprintf(w, ".TP\n\\fB%s\n%s", name, roffText(OfFlag(flag.Value)))
		for _, variable := range flag.Envs {
			fmt.Fprintf(w, "\nVariable: %s.", roffText(variable))
		}
		w.WriteString("\n")
	}
}

// roffText escapes a text.
func roffText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
