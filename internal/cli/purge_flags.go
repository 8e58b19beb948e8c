package cli

import (
	"log/slog"
	"net/url"

	"portico/store"
)

// PurgeFlags are the flags of the purge hook.
type PurgeFlags struct {
	PurgeURL        string `group:"cdn" hidden:"" name:"purge-url" placeholder:"URL" help:"URL that gets a signed POST after each change of what shoppers see, with the tags to purge. Must be the same on all servers of a database; one of them calls it."`
	PurgeSecret     string `group:"cdn" hidden:"" secret:"" placeholder:"KEY" help:"Key that signs the calls of --purge-url: 32 bytes in base64, from openssl rand -base64 32. During a change: NEW,CURRENT, which signs with both. Prefer the environment variable, since other users can see command lines. Overrides --purge-secret-file."`
	PurgeSecretFile string `group:"cdn" hidden:"" type:"path" placeholder:"FILE" help:"File with the key in base64. During a change it has both. Read at start."`
}

func (f *PurgeFlags) check() error {
	if f.PurgeURL == "" {
		if f.PurgeSecret != "" || f.PurgeSecretFile != "" {
			return usagef("--purge-secret and --purge-secret-file need --purge-url")
		}
		return nil
	}
	at, err := url.Parse(f.PurgeURL)
	if err != nil || store.CheckURL(f.PurgeURL) != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || at.User != nil || at.Fragment != "" {
		return usagef("--purge-url must be a URL without user and fragment, such as https://purge.example/portico, got %q", maskURL(f.PurgeURL))
	}
	if f.PurgeSecret == "" && f.PurgeSecretFile == "" {
		return usagef("--purge-url needs a key that signs its calls: create one with openssl rand -base64 32, and set PORTICO_PURGE_SECRET or --purge-secret-file")
	}
	return nil
}

// PurgeKeys returns the keys that sign the calls, the newest first; none without --purge-url.
func (f *PurgeFlags) PurgeKeys(log *slog.Logger) ([][]byte, error) {
	switch {
	case f.PurgeURL == "":
		return nil, nil
	case f.PurgeSecret != "":
		return parseKeys("--purge-secret", f.PurgeSecret)
	}
	return readKeys(f.PurgeSecretFile, log)
}
