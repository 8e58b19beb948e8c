package store

import (
	"reflect"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Shaped is a type with an UnmarshalJSON of its own, whose members are those of another type.
type Shaped interface{ Shape() reflect.Type }

// NearMembers returns an error for each member of a JSON value that its type does not have, if its name is nearly one that
// the type has: a client meant that one. Other unknown members are ignored, as the REST contract requires.
func NearMembers(raw []byte, shape reflect.Type) Errors {
	return unknownMembers(raw, shape, func(name string, known []string) string {
		if near := NearName(name, known); near != "" {
			return "is unknown; did you mean " + near + "?"
		}
		return ""
	})
}

// UnknownMembers returns an error for each member of a JSON value that its type does not have.
func UnknownMembers(raw []byte, shape reflect.Type) Errors {
	return unknownMembers(raw, shape, func(name string, known []string) string {
		if near := NearName(name, known); near != "" {
			return "is unknown; did you mean " + near + "?"
		}
		return "is unknown; the members are " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
	})
}

// maxUnknownNames is how many different unknown names of a value are compared with the known ones.
const maxUnknownNames = 1000

// unknownMembers returns the errors of unknown members. explain returns "" for none.
func unknownMembers(raw []byte, shape reflect.Type, explain func(name string, known []string) string) (errs Errors) {
	type unknown struct {
		name    string
		members *structMembers
	}
	found := map[unknown]string{}
	s := &jsonScanner{raw: raw}
	s.unknown = func(name []byte, members *structMembers) {
		at := unknown{string(unescaped(name)), members}
		text, seen := found[at]
		if !seen && len(found) < maxUnknownNames {
			text = explain(at.name, members.names)
			found[at] = text
		}
		if text != "" && len(errs) < maxListedErrors {
			errs = append(errs, &Error{Code: Unprocessable, Path: append(slices.Clone(s.path), Abbreviate(at.name)), Detail: text})
		}
	}
	s.value(shape, 0)
	return errs
}

// NearName returns the name that another one nearly is: one letter or two away, in short names one, or written with other
// capitals, hyphens or underscores. It returns "" if there is none.
func NearName(name string, known []string) string {
	best, least := "", farNames
	for _, k := range known {
		if d := nameDistance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// NearMember is NearName for the members of a struct.
func NearMember(name string, shape reflect.Type) string {
	if shape.Kind() != reflect.Struct {
		return ""
	}
	return NearName(name, membersOf(shape).names)
}

// farNames is the distance of all names that are not near.
const farNames = 3

// nameDistance is how many letters differ between two names. Swapped neighbours count as one letter.
func nameDistance(a, b string) int {
	switch {
	case len(a)-len(b) >= farNames || len(b)-len(a) >= farNames:
		return foldedDistance(a, b)
	case swapped(a, b):
		return 1
	}
	most := 2
	if min(len(a), len(b)) <= 4 {
		most = 1
	}
	if d := levenshtein.ComputeDistance(a, b); d <= most {
		return d
	}
	return foldedDistance(a, b)
}

// foldedDistance is 1 if two names differ in capitals, hyphens and underscores only, else farNames.
func foldedDistance(a, b string) int {
	if len(a) > 2*len(b) || len(b) > 2*len(a) { // saves the work: names have fewer hyphens than letters
		return farNames
	}
	plain := strings.NewReplacer("_", "", "-", "")
	if strings.EqualFold(plain.Replace(a), plain.Replace(b)) {
		return 1
	}
	return farNames
}

// swapped reports whether two names differ by neighbouring letters in the other order.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}
