package help

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/kong"
)

// otherNames are flags of other programs, and ours that do the same.
var otherNames = map[string]string{
	"port": "addr", "host": "addr", "bind": "addr", "listen": "addr", "address": "addr",
	"db": "database-url", "database": "database-url", "dsn": "database-url", "db-url": "database-url", "sqlite": "database-url",
	"cert": "tls-cert", "key": "key-file", "cors": "cors-origin", "proxy": "trusted-proxy", "scopes": "scope", "verbose": "log-level", "debug": "log-level",
}

// notOneOf matches the parser's error for a value of a closed set.
var notOneOf = regexp.MustCompile(`must be one of (.+) but got "([^"]*)"$`)

// DidYouMean adds to an error of the parser what was most likely meant: a flag with one dash, the flag of another
// program, or a value with a typo.
func DidYouMean(message string, args []string, command *kong.Context) string {
	if found := notOneOf.FindStringSubmatch(message); found != nil {
		if near, ok := Nearest(found[2], strings.Split(strings.ReplaceAll(found[1], `"`, ""), ",")); ok {
			message += fmt.Sprintf(", did you mean %q?", near)
		}
		return message
	}
	unknown, isFlag := strings.CutPrefix(message, "unknown flag ")
	if !isFlag || command == nil {
		return message
	}
	unknown, _, _ = strings.Cut(unknown, ",")
	for _, arg := range args {
		given, _, _ := strings.Cut(arg, "=")
		name := strings.TrimLeft(given, "-")
		single := !strings.HasPrefix(arg, "--") && len(name) > 1 // kong reads -demo as -d -e -m -o
		if !strings.HasPrefix(arg, "-") || given != unknown && !(single && strings.HasPrefix(given, unknown)) {
			continue
		}
		for _, meant := range []string{name, otherNames[name]} {
			i := slices.IndexFunc(command.Flags(), func(flag *kong.Flag) bool { return flag.Name == meant })
			if i < 0 {
				continue
			}
			if flag := command.Flags()[i]; !flag.IsBool() {
				meant += " " + flag.FormatPlaceHolder()
			}
			return fmt.Sprintf("unknown flag %s, did you mean %q?", given, "--"+meant)
		}
	}
	return message
}

// Nearest returns the name that differs least from a text; ok is false if that is too much for a typo.
func Nearest(text string, names []string) (name string, ok bool) {
	if len(names) == 0 {
		return "", false
	}
	name = slices.MinFunc(names, func(a, b string) int {
		return levenshtein.ComputeDistance(a, text) - levenshtein.ComputeDistance(b, text)
	})
	return name, levenshtein.ComputeDistance(name, text) <= max(2, len(text)/4)
}
