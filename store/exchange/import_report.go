package exchange

import (
	"fmt"
	"slices"
	"strings"

	"portico/store"
)

// ImportOptions control an import.
type ImportOptions struct {
	Lenient bool // skip unknown types and members

	// Stock overwrites existing stock records and adds to their ledgers; Settings
	// overwrites the settings. Without them existing values stay, and the report counts
	// the skipped resources. New stock records, and settings that were never changed, are
	// written in any case.
	Stock, Settings bool

	// Merge changes only the members that a line has: null clears one, objects are merged, and
	// lists and other values are replaced. A resource that does not exist must be complete.
	Merge bool

	// Row, if set, tells which lines are rows of a sheet. They are merged in any case, and drop
	// objects that they empty.
	Row func(line int) SheetRow

	// Replace are types of which resources that the file does not hold are deleted; Skip are types
	// whose lines are left alone.
	Replace, Skip []string

	// Confirm, if set, is called before the first write if Replace deletes anything, with an
	// element for each type. If it returns an error, nothing is written.
	Confirm func([]Replacement) error

	// Batch is the number of lines in a transaction; 0 means 4,000, or about 16,000 before the
	// first publication. Larger batches are faster but block other writers longer.
	Batch int

	// Strict turns warnings into errors.
	Strict bool

	// Found, if set, is called with every error and every warning, also with those that are
	// not listed: errors first, then warnings, each in the order of the file. Those of deletions
	// come last.
	Found func(finding ImportError, warning bool)

	// LineBytes is the longest line; 0 means 64 MiB.
	LineBytes int

	// Progress, if set, is called with the bytes processed. Each pass counts as a share of
	// the whole. It may be called from any goroutine.
	Progress func(done int64)
}

// SheetRow is what an import knows of a line that may be a row of a sheet (package sheet).
type SheetRow struct {
	IsRow     bool
	Continued bool         // it adds to the resource of an earlier row
	Faults    store.Errors // what is wrong with it; then the line is blank
}

// ImportReport is the result of an import.
type ImportReport struct {
	Resources map[string]int // resources in the file, by type
	Changed   int            // new or changed resources
	Deleted   map[string]int // deleted resources, by type
	Skipped   map[string]int // resources that differ from existing ones and were skipped, by type
	Left      map[string]int // lines of the types in ImportOptions.Skip, by type

	// Likely mistakes by line: references to what is neither in the file nor in the store, keys that two
	// resources have, and more. The lines were written all the same. Warnings lists the first
	// maxWarningsOfKind of each kind, at most MaxWarnings; WarningKinds counts all by ImportError.Kind.
	Warnings     []ImportError
	WarningCount int
	WarningKinds map[string]int

	// What a lenient import skipped: resources of unknown types, and unknown members.
	// Ignored lists the first MaxIgnored; IgnoredCount counts all by type, or by type and
	// member, with * for list indexes.
	Ignored      []ImportError
	IgnoredCount map[string]int
}

// Replacement is how many resources of a type ImportOptions.Replace deletes.
type Replacement struct {
	Type         string
	Deleted, All int // All are those of the store
}

// MaxWarnings and maxWarningsOfKind bound ImportReport.Warnings.
const (
	MaxWarnings       = 20
	maxWarningsOfKind = 3
)

// MaxIgnored bounds ImportReport.Ignored, and maxCounts the names in IgnoredCount and WarningKinds; others
// are counted together.
const (
	MaxIgnored = 20
	maxCounts  = 1000
)

// countName adds one to the count of a name.
func countName(counts map[string]int, name string) {
	if _, known := counts[name]; !known && len(counts) >= maxCounts {
		name = "others"
	}
	counts[name]++
}

// starred returns a path with dots, and * for the positions in lists.
func starred(path []string) string {
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
	return f.Type + " " + starred(f.Err.Path) + " " + text
}

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

// ImportErrors are the errors of a file by line, at most MaxImportErrors; those that are Missing come last. Nothing was
// written.
type ImportErrors struct {
	Errors   []ImportError
	Count    int // of all errors
	Warnings int // that were found too; ImportOptions.Found gets them
}

// MaxImportErrors bounds the listed errors.
const MaxImportErrors = 100

func (f *ImportErrors) Error() string {
	return fmt.Sprintf("%d errors, the first: %s", f.Count, f.Errors[0].Error())
}

const (
	defaultBatch     = 4000     // default lines in one transaction
	firstBatches     = 4        // batches in one transaction before the first publication
	defaultLineBytes = 64 << 20 // default limit of a line
)
