package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
)

// input is what an import reads, several times over.
type input interface {
	// open begins a pass.
	open() (io.ReadCloser, error)

	// size is the length of a pass in bytes, -1 where it is not known.
	size() int64

	// place names the file of a line, and the line's number in it. It is known
	// once a pass has read that far.
	place(line int) (file string, of int)

	// close does away with what was spooled.
	close()
}

// fileInput reads files one after the other, as if they were one: together
// they are checked, and may refer to each other.
type fileInput struct {
	parts  []*part
	spools []func() // close each copy
}

type part struct {
	name  string // as it was given
	bytes int64
	lines int // in the pass under way, or the last

	// open begins to read it.
	open func() (io.ReadCloser, error)
}

// newFileInput finds the files. What cannot be read twice, - for standard
// input above all, is copied to a temporary file first.
func newFileInput(ctx context.Context, names []string, stdin io.Reader) (*fileInput, error) {
	f := &fileInput{}
	for _, name := range names {
		p, err := f.find(ctx, name, stdin)
		if err != nil {
			f.close()
			return nil, err
		}
		f.parts = append(f.parts, p)
	}
	return f, nil
}

func (f *fileInput) find(ctx context.Context, name string, stdin io.Reader) (*part, error) {
	if name == "-" {
		return f.spool(ctx, name, stdin)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory; name the files in it", name)
	}
	if info.Mode().IsRegular() {
		return &part{name: name, bytes: info.Size(), open: func() (io.ReadCloser, error) { return os.Open(name) }}, nil
	}
	pipe, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer pipe.Close()
	return f.spool(ctx, name, pipe)
}

// spool copies until the end, or until ctx ends: the other side may never say
// anything. The copy loses its name at once, where the system lets an open file
// go without: then it goes with the program, however that ends.
func (f *fileInput) spool(ctx context.Context, name string, from io.Reader) (*part, error) {
	file, err := os.CreateTemp("", "portico-import-*.ndjson")
	if err != nil {
		return nil, err
	}
	named := os.Remove(file.Name()) != nil
	f.spools = append(f.spools, func() {
		_ = file.Close()
		if named {
			_ = os.Remove(file.Name()) // a temporary file, which others sweep too
		}
	})
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
		return &part{name: name, bytes: c.bytes, open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(file, 0, c.bytes)), nil
		}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fileInput) open() (io.ReadCloser, error) {
	for _, p := range f.parts {
		p.lines = 0
	}
	return &fileReader{waiting: f.parts}, nil
}

func (f *fileInput) size() (total int64) {
	for _, p := range f.parts {
		total += p.bytes
	}
	return total
}

func (f *fileInput) place(line int) (file string, of int) {
	for _, p := range f.parts {
		if line <= p.lines {
			return p.name, line
		}
		line -= p.lines
	}
	return "", line
}

func (f *fileInput) close() {
	for _, end := range f.spools {
		end()
	}
}

// fileReader is one pass.
type fileReader struct {
	waiting []*part // the first is being read
	file    io.ReadCloser
	from    *bufio.Reader
	inLine  bool // the last byte did not end a line
}

func (r *fileReader) Read(into []byte) (int, error) {
	for len(r.waiting) > 0 {
		if r.file == nil {
			if err := r.next(); err != nil {
				return 0, err
			}
		}
		n, err := r.from.Read(into)
		if n > 0 {
			r.waiting[0].lines += bytes.Count(into[:n], []byte("\n"))
			r.inLine = into[n-1] != '\n'
			return n, nil
		}
		if err != nil && err != io.EOF {
			return 0, fmt.Errorf("read %s: %w", r.waiting[0].name, err)
		}
		if err == io.EOF {
			if n := r.finish(into); n > 0 {
				return n, nil
			}
		}
	}
	return 0, io.EOF
}

// next opens the file that is to be read, without its byte order mark.
func (r *fileReader) next() (err error) {
	if r.file, err = r.waiting[0].open(); err != nil {
		return err
	}
	r.from = bufio.NewReaderSize(r.file, 1<<16)
	if mark, _ := r.from.Peek(3); string(mark) == "\ufeff" {
		_, err = r.from.Discard(len(mark))
	}
	return err
}

// finish ends a file, and its last line where the file did not.
func (r *fileReader) finish(into []byte) int {
	unended := r.inLine
	if unended && len(into) > 0 {
		into[0] = '\n'
		r.waiting[0].lines++
	}
	r.file.Close()
	r.file, r.from, r.inLine, r.waiting = nil, nil, false, r.waiting[1:]
	if unended {
		return 1
	}
	return 0
}

func (r *fileReader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
