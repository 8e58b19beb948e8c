package store

import (
	"errors"
	"strings"
)

// CheckURL returns an error, which shows nothing of the address, if it is unclear where the user and the password end: at one of
// several @, or at a / before the @. A part of the password would be taken for the host, and messages would show it.
func CheckURL(address string) error {
	_, rest, _ := strings.Cut(address, "://")
	user, host, found := strings.Cut(rest, "@")
	if found && (strings.ContainsAny(user, "/?#") || strings.Contains(host, "@")) {
		return errors.New("cannot be parsed: percent-encode its user and password, with %40 for @ and %2F for /")
	}
	return nil
}
