package input

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"portico/store/exchange/check"
	"portico/store/exchange/sheet"
)

// ReadSheets converts the CSV files to import lines, in temporary files with a line for each
// line of a CSV file. It returns what is odd about files, and the columns that a lenient import skips.
func (f *Files) ReadSheets(ctx context.Context, reader *sheet.Reader) (notes []string, err error) {
	notes = slices.Clone(f.Notes)
	for _, file := range f.files {
		if !file.sheet || file.rows != nil {
			continue
		}
		if err := f.readSheet(ctx, reader, file); err != nil {
			return nil, fmt.Errorf("read %s: %w", file.name, err)
		}
		for _, column := range file.rows.Ignored {
			notes = append(notes, fmt.Sprintf("%s: ignored: the column %s", file.name, column))
		}
	}
	return notes, nil
}

// readSheet converts a CSV file to a temporary file, which replaces it as what file.open reads.
func (f *Files) readSheet(ctx context.Context, reader *sheet.Reader, file *sourceFile) error {
	from, err := file.open()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := f.temporary()
	if err != nil {
		return err
	}
	if file.rows, err = reader.Read(ctx, from, to); err != nil {
		return err
	}
	file.bytes, err = to.Seek(0, io.SeekEnd)
	file.open = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(to, 0, file.bytes)), nil }
	return err
}

// temporary creates a file that close removes. Where the system allows it, it is unlinked at once, so that
// it disappears with the process.
func (f *Files) temporary() (*os.File, error) {
	file, err := os.CreateTemp("", "portico-import-*.ndjson")
	if err != nil {
		return nil, err
	}
	linked := os.Remove(file.Name()) != nil
	f.cleanup = append(f.cleanup, func() {
		_ = file.Close()
		if linked {
			_ = os.Remove(file.Name())
		}
	})
	return file, nil
}

// Row returns what is known of a line of the pass, of which a CSV file may be the source. The pass must have
// read that far.
func (f *Files) Row(line int) check.SheetRow {
	file, line := f.find(line)
	if file == nil || file.rows == nil {
		return check.SheetRow{}
	}
	return check.SheetRow{IsRow: true, Continued: file.rows.Continued[line], Faults: file.rows.Faults[line]}
}

// Column returns the column of a CSV file that an error is about; empty for another file or member.
func (f *Files) Column(e check.ImportError) string {
	if file, _ := f.find(max(e.Line, 1)); file != nil && file.rows != nil && e.Line > 0 {
		return file.rows.Column(e.Err.Path)
	}
	return ""
}

// HasSheets reports whether any file is a sheet.
func (f *Files) HasSheets() bool {
	for _, file := range f.files {
		if file.sheet {
			return true
		}
	}
	return false
}
