package check

import (
	"fmt"
	"slices"
	"strings"

	"portico/store"
)

// ImportError is an error in a line.
type ImportError struct {
	Line  int          // from 1; 0 for what no line of the file holds
	Type  string       // of the resource, if known
	Err   *store.Error // Path is the member as in the file
	Other int          // an earlier line that the error is about; 0 for none

	// Missing is true if the member refers to what neither the files nor the store have. The line that
	// has it may be wrong, so these errors come last.
	Missing bool
}

func (f ImportError) Error() string {
	if f.Type == "" {
		return fmt.Sprintf("line %d: %s", f.Line, f.Err.Error())
	}
	return fmt.Sprintf("line %d: %s: %s", f.Line, f.Type, f.Err.Error())
}

// Starred returns a path with dots, and * for the positions in lists.
func Starred(path []string) string {
	path = slices.Clone(path)
	for i, part := range path {
		if strings.Trim(part, "0123456789") == "" {
			path[i] = "*"
		}
	}
	return strings.Join(path, ".")
}

// Kind is the type, the member and the beginning of the text, which errors of the same kind share whatever value each is about.
func (f ImportError) Kind() string {
	text := f.Err.Detail
	if at := strings.IndexAny(text, `"0123456789`); at > 0 {
		text = text[:at]
	}
	return f.Type + " " + Starred(f.Err.Path) + " " + text
}

// MaxImportErrors bounds the listed errors.
const MaxImportErrors = 100
