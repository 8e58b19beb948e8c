package store

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ConsistencyHeader carries a consistency token: in the response to a write, and
// in a later request, which is then answered by what the write left or by 503.
const ConsistencyHeader = "Consistency-Token"

// ConsistencyToken says what a reader must have seen: versions by topic. Its
// text is opaque to clients: entries like catalog=1732275466000000, separated by
// commas, or 0 for none.
type ConsistencyToken map[string]int64

// Bounds of a token's text.
const (
	maxTokenBytes   = 2048
	maxTokenEntries = 64
	maxTopicBytes   = 32
)

// String is the text of the token, in the order of its topics.
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

// Merge takes in another token: of each topic the later version.
func (t ConsistencyToken) Merge(other ConsistencyToken) {
	for topic, version := range other {
		t[topic] = max(t[topic], version)
	}
}

// ParseConsistencyToken reads the values of a request's headers, each of which
// may hold several tokens, separated by commas. It returns INVALID for a text
// that is none.
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
				return nil, invalidToken("has the entry " + strconv.Quote(Short(entry)))
			}
			token.Merge(ConsistencyToken{topic: version})
			if len(token) > maxTokenEntries {
				return nil, invalidToken("has more than " + strconv.Itoa(maxTokenEntries) + " entries")
			}
		}
	}
	return token, nil
}

func invalidToken(fault string) error {
	return &Error{Code: Invalid, Detail: "The header " + ConsistencyHeader + " " + fault +
		"; send the value that the response to a write had, or several of them separated by commas, or leave the header out."}
}

// isTopic tells whether a text may name a topic: lower-case letters, digits and
// slashes.
func isTopic(text string) bool {
	return text != "" && len(text) <= maxTopicBytes && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789/") == ""
}

type writesKey struct{}

// WithWrites has told be called after each write under a context, once it is
// durable, with the versions that it left; none where servers keep nothing of
// what it wrote.
func WithWrites(ctx context.Context, told func(ConsistencyToken)) context.Context {
	return context.WithValue(ctx, writesKey{}, told)
}

// TellWrite tells of a write under a context.
func TellWrite(ctx context.Context, left ConsistencyToken) {
	if told, ok := ctx.Value(writesKey{}).(func(ConsistencyToken)); ok {
		told(left)
	}
}
