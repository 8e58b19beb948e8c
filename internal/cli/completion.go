package cli

import (
	"io"

	"github.com/alecthomas/kong"

	"portico/internal/cli/help"
)

// Completion prints a completion script.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help is the long description.
func (Completion) Help() string {
	return `Install it for all users, or put the file where your shell looks for completions:

    portico completion bash > /etc/bash_completion.d/portico
    portico completion zsh > /usr/local/share/zsh/site-functions/_portico
    portico completion fish > /etc/fish/completions/portico.fish`
}

// Run prints the script.
func (c Completion) Run(streams Streams, command *kong.Context) error {
	script := map[string]func(*kong.Node) string{"bash": help.Bash, "zsh": help.Zsh, "fish": help.Fish}[c.Shell]
	_, err := io.WriteString(streams.Out, script(command.Model.Node))
	return err
}
