package resttest

import "regexp"

// SignedCursor finds the cursors of links, which each database signs with a key of its own. Group 1 is what is before one.
var SignedCursor = regexp.MustCompile(`(page\[(?:after|before)\]=)[A-Za-z0-9_-]+`)
