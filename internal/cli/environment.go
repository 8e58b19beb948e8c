package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"portico/internal/cli/help"
)

// variablePrefix begins the variables of flags.
const variablePrefix = "PORTICO_"

// serviceVariable matches the variables that Kubernetes and Docker set for a
// service named portico, for example PORTICO_PORT=tcp://10.0.0.1:80. It does not
// match PORTICO_PORT=8080, which somebody means as a flag.
var serviceVariable = regexp.MustCompile(`^PORTICO_(\w+_)?(SERVICE_HOST=.*|SERVICE_PORT(_\w+)?=\d+|PORT=\w+://.*|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=.*)$`)

// checkEnvironment returns an error for a PORTICO_ variable that belongs to no
// flag of any command.
func checkEnvironment(parser *kong.Kong, environment []string) error {
	known := flagVariables(parser.Model.Node, nil)
	for _, variable := range environment {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, variablePrefix) || slices.Contains(known, name) || serviceVariable.MatchString(variable) {
			continue
		}
		if near, ok := help.Nearest(name, known); ok {
			return usagef("unknown environment variable %s. Did you mean %s?", name, near)
		}
		return usagef("unknown environment variable %s. Unset it, since no flag reads it", name)
	}
	return nil
}

// flagVariables appends the variables of the flags of a command and of its
// subcommands to names.
func flagVariables(node *kong.Node, names []string) []string {
	for _, flag := range node.Flags {
		names = append(names, flag.Envs...)
	}
	for _, child := range node.Children {
		names = flagVariables(child, names)
	}
	return names
}
