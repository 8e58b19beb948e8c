package remote

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
)

// importLine is a resource in the import format, with attributes A and relationships R.
type importLine[A, R any] struct {
	Type          string `json:"type"`
	ID            string `json:"id"`
	Attributes    A      `json:"attributes"`
	Relationships R      `json:"relationships,omitzero"`
}

// none are the relationships of a resource without any.
type none struct{}

// ref names a resource, as the server sends it and as the import format has it.
type ref struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// refLink is a link to a resource; nil or without data for none.
type refLink struct {
	Data *ref `json:"data"`
}

// refLinks is a link to several resources; nil or without data for none.
type refLinks struct {
	Data []ref `json:"data"`
}

// linkTo returns a link of a type; nil for no id.
func linkTo(kind, id string) *refLink {
	if id == "" {
		return nil
	}
	return &refLink{&ref{kind, id}}
}

// id returns the id of a link; empty for none.
func (l *refLink) id() string {
	if l == nil || l.Data == nil {
		return ""
	}
	return l.Data.ID
}

// retyped returns a copy of links with another type; nil for none.
func (l *refLinks) retyped(kind string) *refLinks {
	if l == nil || len(l.Data) == 0 {
		return nil
	}
	list := make([]ref, len(l.Data))
	for i, r := range l.Data {
		list[i] = ref{kind, r.ID}
	}
	return &refLinks{list}
}

// derivedID returns the id of a resource whose id the interface does not show. It is the same in each fetch.
func derivedID(parts ...string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("portico:"+strings.Join(parts, "\n"))).String()
}

// utc returns a time of the interface in UTC, with milliseconds. A time without a zone counts as UTC. Empty for what is not a
// time.
func utc(text string) string {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() > 0 {
			return at.UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	return ""
}

// object returns a JSON object as it is; nil for anything else, and for an empty one.
func object(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || len(members) == 0 {
		return nil
	}
	return raw
}
