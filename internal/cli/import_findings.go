package cli

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"portico/internal/cli/input"
	"portico/store/exchange/check"
)

// finding is an error or a warning of an import, or a change that --dry-run found, as
// --report writes it.
type finding struct {
	Severity string `json:"severity"` // error, warning, create, update or delete
	File     string `json:"file"`     // empty if it is about no line
	Line     int    `json:"line"`     // then 0
	Type     string `json:"type"`     // of the resource; empty if unknown
	Member   string `json:"member"`   // with dots; empty for the whole line
	Message  string `json:"message"`
}

// newFinding names the file and line of an error or a warning, which a pass over in
// has read.
func newFinding(e check.ImportError, severity string, in input.Source) finding {
	f := finding{Severity: severity, Type: e.Type, Member: strings.Join(e.Err.Path, "."), Message: e.Err.Detail}
	f.File, f.Line = position(in, e.Line)
	if column := in.Column(e); column != "" {
		f.Member = column
	}
	if e.Other > 0 {
		file, line := in.Position(e.Other)
		f.Message += fmt.Sprintf("; see %s:%d", file, line)
	}
	return f
}

// position returns the file of a line of the import, and the line in it. It is "" and
// 0 for line 0, which stands for what no line names.
func position(in input.Source, line int) (file string, fileLine int) {
	if line == 0 {
		return "", 0
	}
	return in.Position(line)
}

// place is "FILE:LINE: ", or "--replace: " for what no line names.
func place(file string, line int) string {
	if line == 0 {
		return "--replace: "
	}
	return fmt.Sprintf("%s:%d: ", file, line)
}

// String is FILE:LINE: TYPE: MEMBER MESSAGE.
func (f finding) String() string {
	text := place(f.File, f.Line)
	if f.Severity == "warning" {
		text += "warning: "
	}
	if f.Type != "" {
		text += f.Type + ": "
	}
	if f.Member != "" {
		text += f.Member + " "
	}
	text += f.Message
	if !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
		text += "."
	}
	return text
}

// findingWriter writes a report: CSV if its name ends in .csv, else NDJSON.
type findingWriter struct {
	buffer *bufio.Writer
	json   *json.Encoder // nil for CSV
	csv    *csv.Writer   // nil for NDJSON
	err    error         // the first one; flush returns it
}

func newFindingWriter(to io.Writer, name string) *findingWriter {
	w := &findingWriter{buffer: bufio.NewWriter(to)}
	if strings.HasSuffix(name, ".csv") {
		w.csv = csv.NewWriter(w.buffer)
		w.err = w.csv.Write([]string{"severity", "file", "line", "type", "member", "message"})
		return w
	}
	w.json = json.NewEncoder(w.buffer)
	w.json.SetEscapeHTML(false)
	return w
}

// write writes a finding, unless an earlier one failed.
func (w *findingWriter) write(f finding) {
	switch {
	case w.err != nil:
	case w.csv != nil:
		w.err = w.csv.Write([]string{f.Severity, f.File, strconv.Itoa(f.Line), f.Type, f.Member, f.Message})
	default:
		w.err = w.json.Encode(f)
	}
}

func (w *findingWriter) flush() error {
	if w.csv != nil {
		w.csv.Flush()
	}
	return errors.Join(w.err, w.buffer.Flush())
}

// found returns the function that an import calls with each error and warning; nil without
// a report.
func (w *findingWriter) found(in input.Source) func(check.ImportError, bool) {
	if w == nil {
		return nil
	}
	return func(e check.ImportError, warning bool) {
		severity := "error"
		if warning {
			severity = "warning"
		}
		w.write(newFinding(e, severity, in))
	}
}

// reportFindings runs an import and writes what it finds to the file --report, also if
// the import fails. Without the flag the writer is nil.
func (c *Import) reportFindings(in input.Source, run func(*findingWriter) error) (err error) {
	if c.Report == "" {
		return run(nil)
	}
	reported := outputPath(c.Report).replace(func(file io.Writer) error {
		w := newFindingWriter(file, c.Report)
		err = run(w)
		return w.flush()
	})
	if reported != nil {
		reported = fmt.Errorf("write the report: %w", reported)
	}
	return errors.Join(err, reported)
}
