// Package input reads what portico import is given: NDJSON and CSV files, also compressed with gzip,
// folders of them, standard input, and generated shops. A Source reads all of it as one stream of lines in
// several passes, and finds the file of a line. It must not import internal/cli.
package input

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"portico/internal/datagen"
	"portico/store/exchange/check"
	"portico/store/exchange/sheet"
)

// Source is what an import reads, in several passes.
type Source interface {
	// Open starts a pass.
	Open() (io.ReadCloser, error)

	// Size is the length of a pass in bytes; -1 if unknown.
	Size() int64

	// Position returns the file and the line in it of a line of the pass, once
	// the pass has read that far.
	Position(line int) (file string, fileLine int)

	// Column returns the column of a CSV file that an error is about; empty for another file or member.
	Column(e check.ImportError) string

	// ReadSheets converts CSV files, and returns what is odd about files, to print. Call it before the first pass.
	ReadSheets(ctx context.Context, reader *sheet.Reader) (notes []string, err error)

	// HasSheets reports whether any file is CSV, and Row what is known of a line of the pass.
	HasSheets() bool
	Row(line int) check.SheetRow

	// Close removes temporary files.
	Close()
}

// Files reads files one after the other as a single stream.
type Files struct {
	files   []*sourceFile
	Notes   []string // what is odd about files, which ReadSheets returns
	cleanup []func()
}

// sourceFile is one file of an import.
type sourceFile struct {
	name  string                        // as given
	bytes int64                         // of what open reads; -1 if unknown
	lines atomic.Int64                  // that the current or last pass has read
	open  func() (io.ReadCloser, error) // of lines, decompressed and, after ReadSheets, converted

	sheet bool        // a CSV file that has to be converted
	rows  *sheet.Rows // of a converted sheet; nil for NDJSON
}

// OpenFiles opens files, folders and standard input by their names. It copies what cannot be read twice, such as
// standard input (-), to a temporary file.
func OpenFiles(ctx context.Context, names []string, stdin io.Reader) (*Files, error) {
	f := &Files{}
	for _, name := range names {
		files, err := f.locate(ctx, name, stdin)
		if err == nil {
			var empty bool
			for _, file := range files {
				empty, err = file.detect()
				if err != nil {
					break
				}
				if empty {
					f.Notes = append(f.Notes, file.name+": is empty")
				}
			}
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		f.files = append(f.files, files...)
	}
	return f, nil
}

// locate returns a file by its name, or the files of a folder.
func (f *Files) locate(ctx context.Context, name string, stdin io.Reader) ([]*sourceFile, error) {
	if name == "-" {
		return one(f.spool(ctx, name, stdin))
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return f.locateAll(ctx, name, stdin)
	}
	if info.Mode().IsRegular() {
		return one(&sourceFile{name: name, bytes: info.Size(), open: func() (io.ReadCloser, error) { return os.Open(name) }}, nil)
	}
	pipe, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer pipe.Close()
	return one(f.spool(ctx, name, pipe))
}

// one returns a file as the only one of a list.
func one(file *sourceFile, err error) ([]*sourceFile, error) { return []*sourceFile{file}, err }

// importSuffixes end the names of import files, in any case.
var importSuffixes = []string{".ndjson", ".csv", ".ndjson.gz", ".csv.gz"}

// locateAll returns the import files of a folder by name, without those of its folders. It notes the other files, but for
// hidden ones: systems leave them behind.
func (f *Files) locateAll(ctx context.Context, folder string, stdin io.Reader) (files []*sourceFile, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := filepath.Join(folder, entry.Name())
		isImport := slices.ContainsFunc(importSuffixes, func(suffix string) bool { return strings.HasSuffix(strings.ToLower(name), suffix) })
		switch {
		case entry.IsDir() || strings.HasPrefix(entry.Name(), "."):
		case !isImport:
			f.Notes = append(f.Notes, name+": ignored: its name does not end in .ndjson, .csv, .ndjson.gz or .csv.gz")
		default:
			found, err := f.locate(ctx, name, stdin)
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the folder %s has no file *.ndjson, *.csv, *.ndjson.gz or *.csv.gz", folder)
	}
	return files, nil
}

// spool copies from until its end, or until ctx ends, since the writer may never
// write.
func (f *Files) spool(ctx context.Context, name string, from io.Reader) (*sourceFile, error) {
	file, err := f.temporary()
	if err != nil {
		return nil, err
	}
	type copied struct {
		bytes int64
		err   error
	}
	done := make(chan copied, 1)
	go func() {
		n, err := io.Copy(file, from)
		done <- copied{n, err}
	}()
	select {
	case c := <-done:
		if c.err != nil {
			return nil, fmt.Errorf("read %s: %w", name, c.err)
		}
		return &sourceFile{name: name, bytes: c.bytes, open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(file, 0, c.bytes)), nil
		}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *Files) Open() (io.ReadCloser, error) {
	for _, file := range f.files {
		file.lines.Store(0)
	}
	return &fileReader{pending: f.files}, nil
}

func (f *Files) Size() (total int64) {
	for _, file := range f.files {
		if file.bytes < 0 {
			return -1
		}
		total += file.bytes
	}
	return total
}

func (f *Files) Position(line int) (file string, fileLine int) {
	part, line := f.find(line)
	if part == nil {
		return "", line
	}
	return part.name, line
}

// find returns the file of a line of the pass, and the line in it.
func (f *Files) find(line int) (*sourceFile, int) {
	for _, part := range f.files {
		lines := int(part.lines.Load())
		if line <= lines {
			return part, line
		}
		line -= lines
	}
	return nil, line
}

func (f *Files) Close() {
	for _, remove := range f.cleanup {
		remove()
	}
}

// fileReader is one pass.
type fileReader struct {
	pending  []*sourceFile // the first is being read
	file     io.ReadCloser
	buffered *bufio.Reader // reads file
	inLine   bool          // the last byte did not end a line
}

// Read implements io.Reader. It counts the lines of each file, and ends each last line.
func (r *fileReader) Read(buffer []byte) (int, error) {
	if len(buffer) == 0 {
		return 0, nil
	}
	for len(r.pending) > 0 {
		if r.file == nil {
			if err := r.next(); err != nil {
				return 0, err
			}
		}
		n, err := r.buffered.Read(buffer)
		if n > 0 {
			r.pending[0].lines.Add(int64(bytes.Count(buffer[:n], []byte("\n"))))
			r.inLine = buffer[n-1] != '\n'
			return n, nil
		}
		if err != nil && err != io.EOF {
			return 0, fmt.Errorf("read %s: %w", r.pending[0].name, err)
		}
		if err == io.EOF {
			if n := r.finish(buffer); n > 0 {
				return n, nil
			}
		}
	}
	return 0, io.EOF
}

// next opens the first pending file and skips its byte order mark.
func (r *fileReader) next() (err error) {
	if r.file, err = r.pending[0].open(); err != nil {
		return err
	}
	r.buffered = bufio.NewReaderSize(r.file, 1<<16)
	if mark, _ := r.buffered.Peek(3); string(mark) == "\ufeff" {
		_, err = r.buffered.Discard(len(mark))
	}
	return err
}

// finish closes a file. If its last line has no end, it writes one to the buffer, which is not empty, and returns 1, else 0.
func (r *fileReader) finish(buffer []byte) (n int) {
	if r.inLine {
		buffer[0] = '\n'
		r.pending[0].lines.Add(1)
		n = 1
	}
	r.file.Close()
	r.file, r.buffered, r.inLine, r.pending = nil, nil, false, r.pending[1:]
	return n
}

func (r *fileReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Generated is a generated shop. Each pass generates it again.
type Generated struct {
	Products int
	Seed     uint64
}

func (g *Generated) Open() (io.ReadCloser, error) {
	reader, writer := io.Pipe()
	pass := &generatedPass{PipeReader: reader, done: make(chan struct{})}
	go func() {
		defer close(pass.done)
		writer.CloseWithError(datagen.WriteShop(writer, g.Products, g.Seed))
	}()
	return pass, nil
}

func (g *Generated) Size() int64                     { return -1 }
func (g *Generated) Position(line int) (string, int) { return "--generate", line }
func (g *Generated) Row(int) check.SheetRow          { return check.SheetRow{} }
func (g *Generated) HasSheets() bool                 { return false }
func (g *Generated) Column(check.ImportError) string { return "" }
func (g *Generated) Close()                          {}

func (g *Generated) ReadSheets(context.Context, *sheet.Reader) ([]string, error) {
	return nil, nil
}

// generatedPass is a pass over a generated shop.
type generatedPass struct {
	*io.PipeReader
	done chan struct{}
}

// Close stops the generator and waits until it has ended.
func (p *generatedPass) Close() error {
	err := p.PipeReader.Close()
	<-p.done
	return err
}
