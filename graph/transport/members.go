package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"portico/graph/limits"
	"portico/store"
)

// members are the members of a JSON object, and of objects in it, by their path, such as variables.first. The values are parts of
// the text that they were read from.
type members map[string]json.RawMessage

// errNotObject is the error for JSON that is not one object.
var errNotObject = errors.New("not one JSON object")

// readMembers returns the members of a JSON object, and those of objects at the paths in nested. It checks the whole text in one
// pass and copies no value. The error is a *store.Error for too many members, errNotObject, or one of the syntax.
func readMembers(text []byte, config limits.Config, nested ...string) (members, error) {
	r := memberReader{jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)), text, config, nested, members{}}
	if err := r.object(""); err != nil {
		return nil, err
	}
	if _, err := r.decoder.ReadToken(); err != io.EOF {
		return nil, cmp.Or(err, errNotObject)
	}
	return r.found, nil
}

type memberReader struct {
	decoder *jsontext.Decoder
	text    []byte
	limits  limits.Config
	nested  []string
	found   members
}

// object reads an object, whose members get a prefix. It leaves out long names and those with a dot: nobody reads them.
func (r *memberReader) object(prefix string) error {
	if r.decoder.PeekKind() != '{' {
		return cmp.Or(r.decoder.SkipValue(), errNotObject)
	}
	_, _ = r.decoder.ReadToken()
	for count := 0; r.decoder.PeekKind() != '}'; count++ {
		if count == limits.MaxMembers(r.limits) {
			return limits.TooManyMembers(r.limits)
		}
		raw, err := r.decoder.ReadValue()
		if err != nil {
			return err
		}
		path := prefix
		if limits.MinLength(raw) <= r.limits.Name {
			path += store.TextOf(raw)
		}
		isNested := r.decoder.PeekKind() == '{' && slices.Contains(r.nested, path)
		begin := int(r.decoder.InputOffset())
		if isNested {
			err = r.object(path + ".")
		} else {
			err = r.decoder.SkipValue()
		}
		if err != nil {
			return err
		}
		if !strings.Contains(path[len(prefix):], ".") {
			r.found[path] = bytes.TrimLeft(r.text[begin:r.decoder.InputOffset()], ": \t\r\n")
		}
	}
	_, err := r.decoder.ReadToken()
	return err
}

// value returns a member; nil for null and an absent one.
func (m members) value(path string) json.RawMessage {
	if value := m[path]; string(value) != "null" {
		return value
	}
	return nil
}

// below returns the members of an object in it.
func (m members) below(path string) members {
	below := members{}
	for name, value := range m {
		if rest, found := strings.CutPrefix(name, path+"."); found {
			below[rest] = value
		}
	}
	return below
}
