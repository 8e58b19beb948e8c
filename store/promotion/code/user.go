package code

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
)

// The bounds of who may use a code.
const (
	maxCodeUsers    = 1000
	maxCodeUserName = 255 // bytes
)

// CodeUser says who may use a code: a customer's id, or any text that names
// somebody, or a list of them. It keeps the form in which it was given, a text
// or a list; the zero CodeUser is everybody.
type CodeUser struct {
	names []string
	list  bool
}

// OneCodeUser is a user given as a text.
func OneCodeUser(name string) CodeUser { return CodeUser{names: []string{name}} }

// CodeUsers are users given as a list; nil is everybody.
func CodeUsers(names []string) CodeUser { return CodeUser{names, names != nil} }

// IsZero tells whether everybody may use the code.
func (u CodeUser) IsZero() bool { return u.names == nil && !u.list }

// Names are those who may use the code; nil for everybody.
func (u CodeUser) Names() []string { return u.names }

// includes tells whether somebody may use the code; nobody in particular is
// an empty name.
func (u CodeUser) Includes(name string) bool { return u.IsZero() || slices.Contains(u.names, name) }

// IsOne tells whether the user was given as a text.
func (u CodeUser) IsOne() bool { return !u.list && u.names != nil }

// AppendJSON appends null, a string, or an array of strings.
func (u CodeUser) AppendJSON(dst []byte) []byte {
	switch {
	case u.IsZero():
		return append(dst, "null"...)
	case u.IsOne():
		return store.AppendString(dst, u.names[0])
	}
	dst = append(dst, '[')
	for i, name := range u.names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = store.AppendString(dst, name)
	}
	return append(dst, ']')
}

// MarshalJSON implements json.Marshaler.
func (u CodeUser) MarshalJSON() ([]byte, error) { return u.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler. The error is an *Error, INVALID
// without a path.
func (u *CodeUser) UnmarshalJSON(text []byte) error {
	*u = CodeUser{}
	text = bytes.TrimSpace(text)
	var one string
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	if json.Unmarshal(text, &one) == nil {
		*u = OneCodeUser(one)
		return nil
	}
	var several []*string
	if json.Unmarshal(text, &several) != nil || slices.Contains(several, nil) {
		return store.Invalidf(nil, "must be a string or an array of strings")
	}
	names := make([]string, len(several))
	for i, name := range several {
		names[i] = *name
	}
	*u = CodeUsers(names)
	return nil
}

// stored is the user as a row holds it: empty for everybody, else JSON.
func (u CodeUser) stored() string {
	if u.IsZero() {
		return ""
	}
	return string(u.AppendJSON(nil))
}

// storedCodeUser reads what stored gave. Rows of before it was checked may
// name nobody, which has meant everybody; one that cannot be read at all lets
// nobody use the code.
func storedCodeUser(text string) (u CodeUser) {
	if text == "" {
		return u
	}
	if u.UnmarshalJSON([]byte(text)) != nil {
		return CodeUser{list: true}
	}
	u.names = slices.DeleteFunc(u.names, func(name string) bool { return name == "" })
	if len(u.names) == 0 {
		return CodeUser{}
	}
	return u
}

// checkCodeUser finds what is wrong with who may use a code.
func checkCodeUser(f *authoring.Validator, member string, u CodeUser) {
	const everybody = "leave it out, or send null, for everybody"
	switch {
	case u.IsZero():
		return
	case len(u.names) == 0:
		f.Rule(member, "must name somebody; %s", everybody)
	case len(u.names) > maxCodeUsers:
		f.Rule(member, "must name at most %d, got %d", maxCodeUsers, len(u.names))
		return
	}
	for i, name := range u.names {
		at := member
		if u.list {
			at += "." + strconv.Itoa(i)
		}
		if name == "" {
			f.Rule(at, "must not be empty; %s", everybody)
		}
		f.Text(at, name, maxCodeUserName)
	}
}
