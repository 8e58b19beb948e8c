package cli

import (
	"fmt"
	"strings"
	"time"

	"portico/store"
)

// parseTime parses the time of a flag, and warns of one without a zone, which counts as UTC.
func parseTime(streams Streams, flag, text string) (time.Time, error) {
	at, err := store.ParseTime(text)
	if err != nil {
		return at, usagef("%s must be a time such as 2026-12-01T08:00:00Z or 2026-12-01T08:00:00+01:00, got %q", flag, text)
	}
	if _, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "T", 1)); err != nil {
		fmt.Fprintf(streams.Err, "%s %s has no time zone, and counts as UTC: %s\n", flag, text, at.Format(time.RFC3339))
	}
	return at, nil
}
