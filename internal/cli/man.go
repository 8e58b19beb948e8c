package cli

import (
	"io"

	"github.com/alecthomas/kong"

	"portico/internal/cli/help"
)

// Man prints the manual page.
type Man struct {
	Markdown bool `hidden:"" env:"-" help:"Print docs/configuration.md instead."`
}

// Help is the long description.
func (Man) Help() string {
	return "Install it with: portico man > /usr/local/share/man/man1/portico.1"
}

// Run prints the page.
func (c Man) Run(streams Streams, command *kong.Context) error {
	page := help.ManualPage(command.Model)
	if c.Markdown {
		page = help.Markdown(command.Model)
	}
	_, err := io.WriteString(streams.Out, page)
	return err
}
