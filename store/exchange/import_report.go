package exchange

import (
	"fmt"

	"portico/store"
	"portico/store/exchange/check"
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
	Row func(line int) check.SheetRow

	// Replace are types of which resources that the file does not hold are deleted; Skip are types
	// whose lines are left alone.
	Replace, Skip []string

	// Confirm, if set, is called before the first write if there is any Replace. Its argument has an element for
	// each type, also if nothing of it is deleted. If it returns an error, nothing is written.
	Confirm func([]Replacement) error

	// Batch is the number of lines in a transaction; 0 means 4,000, or about 16,000 before the
	// first publication. Larger batches are faster but block other writers longer.
	Batch int

	// Strict turns warnings into errors.
	Strict bool

	// Found, if set, is called with every error and every warning, also with those that are
	// not listed: errors first, then warnings, each in the order of the file. Those of deletions
	// come last.
	Found func(finding check.ImportError, warning bool)

	// LineBytes is the longest line; 0 means 64 MiB.
	LineBytes int

	// Progress, if set, is called with the bytes processed. Each pass counts as a share of
	// the whole. It may be called from any goroutine.
	Progress func(done int64)
}

// ImportReport is the result of an import.
type ImportReport struct {
	Resources map[string]int // resources in the file, by type
	Changed   int            // new or changed resources
	Deleted   map[string]int // deleted resources, by type
	Skipped   map[string]int // resources that differ from existing ones and were skipped, by type
	Left      map[string]int // lines of the types in ImportOptions.Skip, by type
	Currency  *string        // of the first prices, which the shop takes over; nil if it keeps its own

	// Likely mistakes by line: references to what is neither in the file nor in the store, keys that two
	// resources have, and more. The lines were written all the same. Warnings lists the first
	// maxWarningsOfKind of each kind, at most MaxWarnings; WarningKinds counts all by ImportError.Kind.
	Warnings     []check.ImportError
	WarningCount int
	WarningKinds map[string]int

	// What a lenient import skipped: resources of unknown types, and unknown members.
	// Ignored lists the first MaxIgnored; IgnoredCount counts all by type, or by type and
	// member, with * for list indexes.
	Ignored      []check.ImportError
	IgnoredCount map[string]int
}

// recordIgnored records what a lenient import skips of a line.
func (r *ImportReport) recordIgnored(d check.Line) {
	for _, passed := range d.Ignored {
		if len(r.Ignored) < MaxIgnored {
			r.Ignored = append(r.Ignored, check.ImportError{Line: d.Number, Type: d.Kind, Err: passed})
		}
		name := store.Abbreviate(d.Kind)
		if d.Source != nil {
			name += " " + check.Starred(passed.Path)
		}
		countName(r.IgnoredCount, name)
	}
}

// warn records a warning and reports it to ImportOptions.Found. If the import is strict, it calls add instead.
func (r *ImportReport) warn(warning check.ImportError, options ImportOptions, add func(check.ImportError)) {
	if options.Strict {
		add(warning)
		return
	}
	r.WarningCount++
	kind := warning.Kind()
	countName(r.WarningKinds, kind)
	if len(r.Warnings) < MaxWarnings && r.WarningKinds[kind] <= maxWarningsOfKind {
		r.Warnings = append(r.Warnings, warning)
	}
	if options.Found != nil {
		options.Found(warning, true)
	}
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

// ImportErrors are the errors of a file by line, at most MaxImportErrors; those that are Missing come last. Nothing was
// written.
type ImportErrors struct {
	Errors []check.ImportError
	Count  int           // of all errors
	Report *ImportReport // of the warnings that were found too; nil for an error that a write found
}

func (f *ImportErrors) Error() string {
	return fmt.Sprintf("%d errors, the first: %s", f.Count, f.Errors[0].Error())
}

const (
	defaultBatch     = 4000     // default lines in one transaction
	firstBatches     = 4        // as many default batches in one transaction before the first publication
	defaultLineBytes = 64 << 20 // default limit of a line
)
