package code

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
)

const (
	maxCodeUsers    = 1000
	maxCodeUserName = 255 // bytes
)

// User says who may use a code: a customer's id or any other name, or a list of them. It
// keeps the given form, one name or a list. The zero User is everybody.
type User struct {
	names []string
	list  bool
}

// OneCodeUser returns the user with a single name.
func OneCodeUser(name string) User { return User{names: []string{name}} }

// Users returns the users of a list; nil is everybody.
func Users(names []string) User { return User{names, names != nil} }

// IsZero reports whether everybody may use the code.
func (u User) IsZero() bool { return u.names == nil && !u.list }

// Names returns who may use the code; nil for everybody.
func (u User) Names() []string { return u.names }

// Includes reports whether a user may use the code. The name is empty if the user is unknown.
func (u User) Includes(name string) bool { return u.IsZero() || slices.Contains(u.names, name) }

// IsOne reports whether the user was given as a single name.
func (u User) IsOne() bool { return !u.list && u.names != nil }

// AppendJSON appends null, a string, or an array of strings.
func (u User) AppendJSON(dst []byte) []byte {
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
func (u User) MarshalJSON() ([]byte, error) { return u.AppendJSON(nil), nil }

// UnmarshalJSON implements json.Unmarshaler. The error is a *store.Error, INVALID, without a
// path.
func (u *User) UnmarshalJSON(text []byte) error {
	*u = User{}
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
	*u = Users(names)
	return nil
}

// stored returns the form in rows: empty for everybody, else JSON.
func (u User) stored() string {
	if u.IsZero() {
		return ""
	}
	return string(u.AppendJSON(nil))
}

// storedCodeUser parses what stored returned. An old row may have only empty names, which means
// everybody. With an unreadable row nobody may use the code.
func storedCodeUser(text string) (u User) {
	if text == "" {
		return u
	}
	if u.UnmarshalJSON([]byte(text)) != nil {
		return User{list: true}
	}
	u.names = slices.DeleteFunc(u.names, func(name string) bool { return name == "" })
	if len(u.names) == 0 {
		return User{}
	}
	return u
}

// checkCodeUser checks who may use a code.
func checkCodeUser(f *authoring.Validator, member string, u User) {
	const everybody = "omit it, or send null, for everybody"
	switch {
	case u.IsZero():
		return
	case len(u.names) == 0:
		f.Rule(member, "must name at least one user; %s", everybody)
	case len(u.names) > maxCodeUsers:
		f.Rule(member, "must name at most %d users, got %d", maxCodeUsers, len(u.names))
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
