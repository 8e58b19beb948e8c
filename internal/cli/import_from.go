package cli

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"portico/internal/cli/input"
	"portico/internal/remote"
	"portico/store"
)

// FromFlags are the flags for importing the shop of another server.
type FromFlags struct {
	From                 string   `group:"from" placeholder:"URL" help:"Import the shop of another server with the same REST interface instead of files, for example https://shop.example."`
	FromClientID         string   `group:"from" name:"from-client-id" placeholder:"ID" help:"API client of the other server. Its permissions decide what is read."`
	FromClientSecret     string   `group:"from" secret:"" placeholder:"SECRET" help:"Secret of the client. Without one, only what shoppers see is read. Prefer the environment variable, since other users can see command lines. Overrides --from-client-secret-file."`
	FromClientSecretFile string   `group:"from" type:"path" placeholder:"FILE" help:"File with the secret."`
	FromLanguage         []string `group:"from" sep:"," placeholder:"TAG" help:"Further language of texts to read, for example fr. Can be repeated."`
	FromChannel          string   `group:"from" placeholder:"NAME" help:"Read the catalog that shoppers of this channel see. Sent as Store-Channel."`
	FromTag              []string `group:"from" sep:"," placeholder:"TAG" help:"Read the catalog that shoppers with this tag see. Sent as Store-Context-Tag. Can be repeated."`
	FromFolder           string   `group:"from" type:"path" placeholder:"DIR" help:"Folder for what is read, removed after the import. An interrupted run continues from it. Default: from-HOST."`
	Rate                 float64  `group:"from" placeholder:"N" default:"10" help:"Maximum number of requests a second to the other server."`
}

// check returns a usage error for flags that are invalid, or need --from.
func (f *FromFlags) check() error {
	if f.From == "" {
		if len(f.FromLanguage)+len(f.FromTag) > 0 || f.FromFolder != "" || f.FromChannel != "" {
			return usagef("--from-language, --from-channel, --from-tag and --from-folder need --from")
		}
		return nil // the credentials may be in the environment for other imports
	}
	at, err := url.Parse(f.From)
	switch {
	case err != nil || store.CheckURL(f.From) != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return usagef("--from must be a URL without user, query and fragment, such as https://shop.example, got %q", maskURL(f.From))
	case f.FromClientID == "":
		return usagef("--from needs --from-client-id, and the secret in PORTICO_FROM_CLIENT_SECRET or --from-client-secret-file")
	case f.Rate <= 0 || f.Rate > 1000:
		return usagef("--rate must be more than 0 and at most 1000 requests a second, got %g", f.Rate)
	}
	for _, name := range append([]string{f.FromChannel}, f.FromTag...) {
		if len(name) > 255 || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return usagef("--from-channel and --from-tag must be at most 255 bytes of text without control characters, got %q", store.Abbreviate(name))
		}
	}
	for _, tag := range f.FromLanguage {
		if _, err := language.Parse(tag); err != nil {
			return usagef("--from-language must be a BCP 47 tag such as fr-CA, got %q", tag)
		}
	}
	return nil
}

// plainText warns of credentials that are sent without encryption to another machine; empty if they are not.
func (f *FromFlags) plainText(secret string) string {
	at, err := url.Parse(f.From)
	if err != nil || at.Scheme != "http" || at.Hostname() == "localhost" || net.ParseIP(at.Hostname()).IsLoopback() {
		return ""
	}
	sent := "the token of the client"
	if secret != "" {
		sent = "the secret of the client and its token"
	}
	return "warning: " + f.From + " is not HTTPS, so others on the network can read " + sent + ". Use https://, and rotate a secret that was sent"
}

// secret returns the secret; empty for none.
func (f *FromFlags) secret() (string, error) {
	if f.FromClientSecret != "" || f.FromClientSecretFile == "" {
		return f.FromClientSecret, nil
	}
	text, err := os.ReadFile(f.FromClientSecretFile)
	if err != nil {
		return "", fmt.Errorf("read the secret: %w", err)
	}
	if secret := strings.TrimSpace(string(text)); secret != "" {
		return secret, nil
	}
	return "", fmt.Errorf("read the secret: the file %s is empty", f.FromClientSecretFile)
}

// folder returns the folder for what is fetched.
func (f *FromFlags) folder() string {
	if f.FromFolder != "" {
		return f.FromFolder
	}
	at, err := url.Parse(f.From)
	if err != nil {
		return "from-server"
	}
	return "from-" + strings.NewReplacer(":", "-", "[", "", "]", "").Replace(at.Host)
}

// fetchedInput is the shop of another server, which was read into a folder.
type fetchedInput struct {
	*input.Files
	folder *remote.Folder
}

// fetch reads the shop of the other server, or what is missing in the folder.
func (f *FromFlags) fetch(ctx context.Context, streams Streams) (input.Source, error) {
	secret, err := f.secret()
	if err != nil {
		return nil, err
	}
	if warning := f.plainText(secret); warning != "" {
		fmt.Fprintln(streams.Err, warning)
	}
	folder, err := remote.Fetch(ctx, remote.Config{
		URL: strings.TrimRight(f.From, "/"), Credentials: remote.Credentials{ID: f.FromClientID, Secret: secret},
		Languages: f.FromLanguage, Channel: f.FromChannel, Tags: f.FromTag, Rate: f.Rate, Folder: f.folder(),
		Progress: func(text string) { fmt.Fprintln(streams.Err, text) },
		Waiting: func(cause string, wait time.Duration) {
			fmt.Fprintf(streams.Err, "%s. Trying again in %s\n", cause, wait.Round(time.Second/10))
		},
	})
	if err != nil {
		return nil, err
	}
	files, err := input.OpenFiles(ctx, folder.Files(), nil)
	if err != nil {
		folder.Close()
		return nil, err
	}
	files.Notes = nil // types of which the server has none are empty files
	return &fetchedInput{files, folder}, nil
}

func (f *fetchedInput) Close() {
	f.Files.Close()
	f.folder.Close()
}

// explainFetched adds to the error of invalid lines where they are, if they were fetched.
func explainFetched(in input.Source, err error) error {
	fetched, ok := in.(*fetchedInput)
	if !ok {
		return err
	}
	return fmt.Errorf("%w. What was read is in %s: correct it there and run this command again, or leave types out with --skip", err, fetched.folder.Path())
}

// printGaps prints what the other server does not show, and returns it; nil for an input that was not fetched.
func printGaps(o Output, streams Streams, in input.Source) []remote.Gap {
	fetched, ok := in.(*fetchedInput)
	if !ok {
		return nil
	}
	o.printLine(streams, "not moved, since the server does not show it:")
	gaps := fetched.folder.Gaps()
	for _, gap := range gaps {
		o.printLine(streams, "- "+gap.String())
	}
	return gaps
}

// removeFetched removes what was fetched, after an import.
func removeFetched(in input.Source) error {
	fetched, ok := in.(*fetchedInput)
	if !ok {
		return nil
	}
	if err := fetched.folder.Remove(); err != nil {
		return fmt.Errorf("the import is done, but its files cannot be removed: %w", err)
	}
	return nil
}
