package remote

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
)

// line is a resource in the import format.
type line[A, R any] struct {
	Type          string `json:"type"`
	ID            string `json:"id"`
	Attributes    A      `json:"attributes"`
	Relationships R      `json:"relationships,omitzero"`
}

type none struct{}

// ref names a resource, on both sides.
type ref struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// link is a link to a resource, and links to several; nil or without data for none.
type link struct {
	Data *ref `json:"data"`
}

type links struct {
	Data []ref `json:"data"`
}

// to returns a link of a type; nil for no id.
func to(kind, id string) *link {
	if id == "" {
		return nil
	}
	return &link{&ref{kind, id}}
}

// id returns the id of a link; empty for none.
func (l *link) id() string {
	if l == nil || l.Data == nil {
		return ""
	}
	return l.Data.ID
}

// retyped returns links with a type; nil for none.
func (l *links) retyped(kind string) *links {
	if l == nil || len(l.Data) == 0 {
		return nil
	}
	list := make([]ref, len(l.Data))
	for i, r := range l.Data {
		list[i] = ref{kind, r.ID}
	}
	return &links{list}
}

// derivedID returns the id of a resource whose id the interface does not tell. It is the same in each fetch.
func derivedID(parts ...string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("portico:"+strings.Join(parts, "\n"))).String()
}

// utc returns a time of the interface in UTC; it may have no zone. Empty for what is not a time.
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
