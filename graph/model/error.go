package model

import "portico/store"

// UserError is something the caller can mend, under the input it is in.
type UserError struct{ *store.Error }

// Field names the member at fault, outermost first.
func (e *UserError) Field() []string {
	if len(e.Path) == 0 {
		return []string{}
	}
	return append([]string{"input"}, e.Path...)
}

// Message says what is wrong and the way out.
func (e *UserError) Message() string { return e.Error.Error() }
