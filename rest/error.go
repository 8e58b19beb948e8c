package rest

import (
	"errors"
	"fmt"
	"strings"

	"portico/graph/model"
	"portico/store"
)

// renameMembers replaces the first member in the paths of errors by the name that the
// request has, which may be a path with dots. Errors of other types stay.
func renameMembers(err error, names map[string]string) error {
	var list store.Errors
	if errors.As(err, new(store.Errors)) || errors.As(err, new(*store.Error)) {
		for _, e := range store.AsErrors(err) {
			if len(e.Path) > 0 && names[e.Path[0]] != "" {
				moved := *e
				moved.Path = append(strings.Split(names[e.Path[0]], "."), e.Path[1:]...)
				e = &moved
			}
			list = append(list, e)
		}
		return list
	}
	return err
}

// invalidParameter returns an INVALID error about a member as REST spells it.
func invalidParameter(name, format string, args ...any) error {
	return &store.Error{Code: store.Invalid, Path: []string{name}, Detail: fmt.Sprintf(format, args...)}
}

// userErrorsToError converts the user errors of a payload to an error. It returns nil if
// there are none.
func userErrorsToError(list []*model.UserError) error {
	if len(list) == 0 {
		return nil
	}
	errs := make(store.Errors, len(list))
	for i, e := range list {
		errs[i] = e.Error
	}
	return errs
}
