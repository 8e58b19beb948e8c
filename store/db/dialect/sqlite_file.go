package dialect

import (
	"net/url"
	"strings"
)

// SQLiteFile returns the path of a file: URL; embedded is false for another URL.
func SQLiteFile(address string) (path string, embedded bool) {
	path, embedded = strings.CutPrefix(address, "file:")
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimPrefix(path, "//")
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	return path, embedded
}
