package app

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"portico/internal/cli"
)

// secretWords finds flags that may hold a secret.
var secretWords = regexp.MustCompile(`(?i)\b(secret|key|token|password|passphrase|passcode|credential)s?\b`)

// notSecret lists flags with such a word that hold no secret, with the reason.
var notSecret = map[string]string{
	"token-issuer":     "in every token",
	"oidc-issuer":      "a URL; passwords in URLs are masked",
	"oidc-audience":    "in every token",
	"anonymous-client": "an id, which is no secret",
}

// textFlags returns the flags of a command that take any text: no numbers, durations,
// booleans or enums.
func textFlags(command *kong.Node) (flags []*kong.Flag) {
	for _, group := range command.AllFlags(false) {
		for _, flag := range group {
			switch kind := flag.Target.Kind(); {
			case kind >= reflect.Bool && kind <= reflect.Complex128, flag.Enum != "":
			default:
				flags = append(flags, flag)
			}
		}
	}
	return flags
}

// TestSecretFlagsAreTagged requires the tag that masks a value, or a reason in notSecret. Paths
// are not secret.
func TestSecretFlagsAreTagged(t *testing.T) {
	t.Parallel()
	parser, err := cli.Parser(&Commands{}, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	tagged, excepted := map[string]bool{}, map[string]string{}
	for _, command := range parser.Model.Leaves(false) {
		for _, flag := range textFlags(command) {
			switch {
			case flag.Tag.Has("secret"):
				tagged[flag.Name] = true
			case flag.Tag.Type != "path" && secretWords.MatchString(flag.Name+" "+flag.Help):
				require.Contains(t, notSecret, flag.Name, `%s --%s needs secret:"", or a reason here`, command.FullPath(), flag.Name)
				excepted[flag.Name] = notSecret[flag.Name]
			}
		}
	}
	require.True(t, tagged["seal-key"])
	require.Equal(t, notSecret, excepted, "notSecret names a flag that needs no reason")
}

// TestURLPasswordsAreMasked requires that `portico config` masks passwords in URLs, alone or in
// a list, and all values of secret flags.
func TestURLPasswordsAreMasked(t *testing.T) {
	t.Parallel()
	const canary = "CanaryYellow"
	parser, err := cli.Parser(&Commands{}, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	command, err := parser.Parse([]string{"config"})
	require.NoError(t, err)
	urls := 0
	for _, flag := range textFlags(command.Selected()) {
		text := "https://user:" + canary + "@one.example/path?key=" + canary
		if flag.Tag.Has("secret") {
			text = canary
		}
		switch holds := flag.Target.Addr().Interface().(type) {
		case *string:
			*holds = text
		case *[]string:
			*holds = []string{"https://two.example", text}
		default:
			require.Fail(t, "this test does not support the type", "--%s is a %T", flag.Name, holds)
		}
		if flag.PlaceHolder == "URL" {
			urls++
		}
	}
	require.GreaterOrEqual(t, urls, 2, "--database-url and --oidc-issuer")
	for _, setting := range cli.Settings(command) {
		require.NotContains(t, fmt.Sprint(setting.Value), canary, "--%s", setting.Name)
	}
}
