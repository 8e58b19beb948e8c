package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const variablePrefix = "PORTICO_"

// serviceVariable matches what Kubernetes and Docker set for a service whose
// name begins with portico, such as PORTICO_PORT=tcp://10.0.0.1:80.
var serviceVariable = regexp.MustCompile(`^PORTICO_(\w+_)?(SERVICE_HOST=.*|SERVICE_PORT(_\w+)?=\d+|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?=.*)$`)

// checkEnvironment refuses a variable that begins like those of the flags and
// that no flag of any command has.
func checkEnvironment(parser *kong.Kong, environment []string) error {
	known := flagVariables(parser.Model.Node, nil)
	for _, variable := range environment {
		name, value, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, variablePrefix) || slices.Contains(known, name) {
			continue
		}
		if serviceVariable.MatchString(variable) && (!strings.HasSuffix(name, "_PORT") || strings.Contains(value, "://") || strings.HasSuffix(name, "_SERVICE_PORT")) {
			continue
		}
		nearest := slices.MinFunc(known, func(a, b string) int { return distance(a, name) - distance(b, name) })
		if distance(nearest, name) <= max(2, len(name)/4) {
			return usage("no flag has the environment variable %s; did you mean %s?", name, nearest)
		}
		return usage("no flag has the environment variable %s; unset it", name)
	}
	return nil
}

// flagVariables are the variables of the flags of a command and of those below it.
func flagVariables(node *kong.Node, names []string) []string {
	for _, flag := range node.Flags {
		names = append(names, flag.Envs...)
	}
	for _, child := range node.Children {
		names = flagVariables(child, names)
	}
	return names
}

// distance is how many bytes to insert, delete or replace to make b of a
// (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
