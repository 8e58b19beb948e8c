package store

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ConsistencyHeader carries a consistency token, in the response to a write and in a
// later request. That request sees the write, or gets 503.
const ConsistencyHeader = "Consistency-Token"

// ConsistencyToken holds the versions that a reader must see, by topic. Its text is
// opaque to clients: "catalog=1732275466000000", comma-separated, or "0" if empty.
type ConsistencyToken map[string]int64

// Limits of a token's text.
const (
	maxTokenBytes   = 2048
	maxTokenEntries = 64
	maxTopicBytes   = 32
)

// String returns the text of the token, sorted by topic.
func (t ConsistencyToken) String() string {
	if len(t) == 0 {
		return "0"
	}
	var b strings.Builder
	for _, topic := range slices.Sorted(maps.Keys(t)) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(topic + "=" + strconv.FormatInt(t[topic], 10))
	}
	return b.String()
}

// Merge adds another token; the newer version of each topic wins.
func (t ConsistencyToken) Merge(other ConsistencyToken) {
	for topic, version := range other {
		t[topic] = max(t[topic], version)
	}
}

// ParseConsistencyToken parses the values of a request's headers, each of which may
// hold several comma-separated tokens. It returns INVALID for a malformed one.
func ParseConsistencyToken(values []string) (ConsistencyToken, error) {
	token, bytes := ConsistencyToken{}, 0
	for _, value := range values {
		if bytes += len(value); bytes > maxTokenBytes {
			return nil, invalidToken("has more than " + strconv.Itoa(maxTokenBytes) + " bytes")
		}
		for entry := range strings.SplitSeq(value, ",") {
			if entry = strings.Trim(entry, " \t"); entry == "" || entry == "0" {
				continue
			}
			topic, digits, _ := strings.Cut(entry, "=")
			version, err := strconv.ParseInt(digits, 10, 64)
			if err != nil || version <= 0 || digits[0] == '+' || !isTopic(topic) {
				return nil, invalidToken("has the entry " + strconv.Quote(Abbreviate(entry)))
			}
			token.Merge(ConsistencyToken{topic: version})
			if len(token) > maxTokenEntries {
				return nil, invalidToken("has more than " + strconv.Itoa(maxTokenEntries) + " entries")
			}
		}
	}
	return token, nil
}

func invalidToken(problem string) error {
	return &Error{Code: Invalid, Detail: "The header " + ConsistencyHeader + " " + problem +
		"; send the value from the response to a write, several such values separated by commas, or no header."}
}

// isTopic reports whether text has only lower-case letters, digits and slashes.
func isTopic(text string) bool {
	return text != "" && len(text) <= maxTopicBytes && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789/") == ""
}

type writesKey struct{}

// WithWriteCallback returns a context that calls written after each commit under it, with the
// versions written; empty if servers cache nothing of what was written.
func WithWriteCallback(ctx context.Context, written func(ConsistencyToken)) context.Context {
	return context.WithValue(ctx, writesKey{}, written)
}

// ReportWrite reports a committed write to the context's callback.
func ReportWrite(ctx context.Context, token ConsistencyToken) {
	if written, ok := ctx.Value(writesKey{}).(func(ConsistencyToken)); ok {
		written(token)
	}
}
