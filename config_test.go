package main

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

// aboutSecrets are the words of flags that may hold a secret.
var aboutSecrets = regexp.MustCompile(`(?i)\b(secret|key|token|password|passphrase|passcode|credential)s?\b`)

// noSecrets are flags with such a word that hold none, and why.
var noSecrets = map[string]string{
	"token-issuer":  "every token names it",
	"oidc-issuer":   "an address; the secrets that an address can have are masked by its form",
	"oidc-audience": "every token names it",
}

// texts are the flags of a command that can hold any text: no numbers,
// durations or truths, and none of which there are a few.
func texts(command *kong.Node) (flags []*kong.Flag) {
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

// TestFlagsThatHoldASecretSaySo by their tag, which is what has them masked,
// or have a reason not to. A path is none.
func TestFlagsThatHoldASecretSaySo(t *testing.T) {
	t.Parallel()
	parser, err := cli.Parser(&commands{}, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	tagged, excepted := map[string]bool{}, map[string]string{}
	for _, command := range parser.Model.Leaves(false) {
		for _, flag := range texts(command) {
			switch {
			case flag.Tag.Has("secret"):
				tagged[flag.Name] = true
			case flag.Tag.Type != "path" && aboutSecrets.MatchString(flag.Name+" "+flag.Help):
				require.Contains(t, noSecrets, flag.Name, `%s --%s needs secret:"", or a reason here`, command.FullPath(), flag.Name)
				excepted[flag.Name] = noSecrets[flag.Name]
			}
		}
	}
	require.True(t, tagged["seal-key"])
	require.Equal(t, noSecrets, excepted, "each reason has its flag")
}

// TestNoFlagShowsThePasswordOfAURL, whatever flag it is given by, alone or in
// a list; nor one with the tag anything.
func TestNoFlagShowsThePasswordOfAURL(t *testing.T) {
	t.Parallel()
	const canary = "CanaryYellow"
	parser, err := cli.Parser(&commands{}, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	command, err := parser.Parse([]string{"config"})
	require.NoError(t, err)
	urls := 0
	for _, flag := range texts(command.Selected()) {
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
			require.Fail(t, "a type that this test does not fill", "--%s is a %T", flag.Name, holds)
		}
		if flag.PlaceHolder == "URL" {
			urls++
		}
	}
	require.GreaterOrEqual(t, urls, 2, "the database's and the issuer's")
	for _, setting := range cli.Settings(command) {
		require.NotContains(t, fmt.Sprint(setting.Value), canary, "--%s", setting.Name)
	}
}
