package store

import (
	"errors"
	"net/url"
	"strings"
)

// ParseURL is url.Parse with an error that shows nothing of the address. It rejects an @ after the host: url.Parse takes what precedes
// a / in a password for the host, and messages would show it.
func ParseURL(address string) (*url.URL, error) {
	parsed, err := url.Parse(address)
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "/?#"); err != nil || end >= 0 && strings.Contains(rest[end:], "@") {
		return nil, errors.New("cannot be parsed: percent-encode its user and password, with %40 for @ and %2F for /")
	}
	return parsed, nil
}
