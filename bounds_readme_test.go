package main

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/cli"
)

// TestTheReadmeHasEveryBound in one of its tables, with its default; and what it
// has there is a flag.
func TestTheReadmeHasEveryBound(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	told := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\| (\\S+) \\|").FindAllStringSubmatch(string(text), -1) {
		told[row[1]] = row[2]
	}
	parser, err := cli.Parser(&commands{}, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	known := map[string]string{}
	for _, command := range parser.Model.Leaves(false) {
		if command.Name != "serve" {
			continue
		}
		for _, flags := range command.AllFlags(false) {
			for _, flag := range flags {
				known[flag.Name] = strings.TrimSuffix(flag.Default, "m0s")
				if flag.Group != nil && flag.Group.Key == cli.BoundsGroup {
					require.Equal(t, flag.Default, told[flag.Name], "--%s has no row, or another default", flag.Name)
				}
			}
		}
	}
	for name, value := range told {
		require.Equal(t, known[name], value, "--%s", name)
	}
}
