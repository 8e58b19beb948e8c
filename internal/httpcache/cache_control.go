// Package httpcache makes the headers by which HTTP caches and CDNs store responses: CacheControl is
// the configured Cache-Control, which it limits to the time that a response holds, and Tags
// are those of a response. It must not import the store or the APIs.
package httpcache

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CacheControl is a Cache-Control value for public responses. The zero value is none.
type CacheControl struct {
	value   []string // as configured
	rest    string   // the directives without a time, such as "public"
	times   []directive
	longest time.Duration // for how long caches may send the response, fresh or stale
}

// directive is a directive with a time.
type directive struct {
	name    string
	seconds int64
}

// The directives with a time, and those without one, that make sense for a response that a later one
// replaces.
var (
	freshDirectives = []string{"max-age", "s-maxage"}
	staleDirectives = []string{"stale-while-revalidate", "stale-if-error"}
	plainDirectives = []string{"public", "must-revalidate", "proxy-revalidate", "no-transform", "no-cache"}
)

// maxSeconds is the longest time of a directive: a year.
const maxSeconds = 365 * 24 * 60 * 60

// ParseCacheControl parses a value such as "public, s-maxage=60, stale-while-revalidate=30". It must have
// public, each directive once, and times of at most a year. An empty text is the zero value.
func ParseCacheControl(text string) (CacheControl, error) {
	if strings.TrimSpace(text) == "" {
		return CacheControl{}, nil
	}
	var c CacheControl
	var names, plain []string
	for part := range strings.SplitSeq(text, ",") {
		name, value, timed := strings.Cut(strings.ToLower(strings.TrimSpace(part)), "=")
		switch {
		case slices.Contains(names, name):
			return CacheControl{}, fmt.Errorf("%s appears twice: keep one", name)
		case slices.Contains(plainDirectives, name) && !timed:
			plain = append(plain, name)
		case slices.Contains(freshDirectives, name), slices.Contains(staleDirectives, name):
			seconds, err := strconv.ParseInt(value, 10, 64)
			if err != nil || seconds < 0 || seconds > maxSeconds {
				return CacheControl{}, fmt.Errorf("%s must have a number of seconds between 0 and %d, such as %[1]s=60, got %[3]q", name, maxSeconds, value)
			}
			c.times = append(c.times, directive{name, seconds})
		default:
			return CacheControl{}, fmt.Errorf("%q is not allowed: use %s without a value, or %s with seconds", strings.TrimSpace(part),
				strings.Join(plainDirectives, ", "), strings.Join(slices.Concat(freshDirectives, staleDirectives), ", "))
		}
		names = append(names, name)
	}
	if !slices.Contains(plain, "public") {
		return CacheControl{}, fmt.Errorf("public is missing in %q: add it, or leave the value empty to have caches ask the server each time", text)
	}
	c.rest = strings.Join(plain, ", ")
	c.longest = c.limit(maxSeconds).total()
	c.value = []string{c.limit(maxSeconds).String()}
	return c, nil
}

// Enabled reports whether a value is configured.
func (c *CacheControl) Enabled() bool { return c.value != nil }

// Value returns the header for a response that holds for some time from now. unbounded means that only
// a publication ends it. Requests share the result; it must not be changed.
func (c *CacheControl) Value(holds time.Duration, unbounded bool) []string {
	if unbounded || holds >= c.longest {
		return c.value
	}
	if holds < time.Second {
		return revalidate
	}
	limited := c.limit(int64(holds / time.Second))
	return []string{limited.String()}
}

// revalidate is for a response that changes within a second: caches ask the server each time.
var revalidate = []string{"public, no-cache"}

// limit returns the value with times that let no cache send the response for longer than a number of
// seconds. The fresh times are cut first; what they leave bounds the stale times.
func (c *CacheControl) limit(seconds int64) *CacheControl {
	limited := &CacheControl{rest: c.rest, times: slices.Clone(c.times)}
	var fresh int64
	for i, d := range limited.times {
		if slices.Contains(freshDirectives, d.name) {
			limited.times[i].seconds = min(d.seconds, seconds)
			fresh = max(fresh, limited.times[i].seconds)
		}
	}
	for i, d := range limited.times {
		if slices.Contains(staleDirectives, d.name) {
			limited.times[i].seconds = min(d.seconds, seconds-fresh)
		}
	}
	return limited
}

// total returns for how long caches may send the response.
func (c *CacheControl) total() time.Duration {
	var fresh, stale int64
	for _, d := range c.times {
		if slices.Contains(freshDirectives, d.name) {
			fresh = max(fresh, d.seconds)
		} else {
			stale = max(stale, d.seconds)
		}
	}
	return time.Duration(fresh+stale) * time.Second
}

// String returns the header's value.
func (c *CacheControl) String() string {
	parts := []string{c.rest}
	for _, d := range c.times {
		parts = append(parts, d.name+"="+strconv.FormatInt(d.seconds, 10))
	}
	return strings.Join(parts, ", ")
}
