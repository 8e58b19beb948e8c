package store

import (
	"errors"
	"net/url"
	"strings"
)

// ParseURL is url.Parse for an address that may have a password. Its error shows nothing of the address. It rejects an @ after the
// host: a / in a password ends the host for url.Parse, and messages about the host would show a part of the password.
func ParseURL(address string) (*url.URL, error) {
	parsed, err := url.Parse(address)
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "/?#"); err != nil || end >= 0 && strings.Contains(rest[end:], "@") {
		return nil, errors.New("cannot be parsed: percent-encode its user and password, with %40 for @ and %2F for /")
	}
	return parsed, nil
}
