package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"portico/store/exchange/sheet"
)

// detect looks at the first bytes of a file. It decompresses gzip, whatever the file's
// name, notices sheets, and returns an error that says what a file is which is neither NDJSON nor a sheet. empty is true for
// a file without content.
func (f *sourceFile) detect() (empty bool, err error) {
	head, err := f.head()
	if err != nil {
		return false, err
	}
	if bytes.HasPrefix(head, []byte("\x1f\x8b")) {
		compressed := f.open
		f.bytes, f.open = -1, func() (io.ReadCloser, error) { return openGzip(compressed) }
		if head, err = f.head(); err != nil {
			return false, fmt.Errorf("read %s: %w", f.name, err)
		}
	}
	f.sheet = sheet.Recognized(string(head))
	if f.sheet {
		return false, nil
	}
	if is := otherFormat(head); is != "" {
		return false, fmt.Errorf("%s is %s", f.name, is)
	}
	return len(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))) == 0, nil
}

// head returns the first bytes of the file.
func (f *sourceFile) head() ([]byte, error) {
	file, err := f.open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head, err := bufio.NewReader(file).Peek(4096)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return bytes.Clone(head), err
}

// otherFormat says what a file is and what to do, if it is surely not NDJSON; else "".
func otherFormat(head []byte) string {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	line, _, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimSpace(line)
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "a ZIP archive or a spreadsheet. Unpack the archive, or save each sheet as CSV UTF-8"
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")):
		return "a spreadsheet. Save each sheet as CSV UTF-8"
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "UTF-16 text. Save it as UTF-8"
	case bytes.HasPrefix(text, []byte("[")):
		return "a JSON array. Write one object on each line, for example with: jq -c '.[]'"
	case bytes.Equal(line, []byte("{")):
		return "JSON with objects over several lines. Write one object on each line, for example with: jq -c ."
	case bytes.HasPrefix(text, []byte("<")):
		return "XML or HTML. An import file is NDJSON: one JSON object on each line"
	case len(line) > 0 && !bytes.ContainsAny(line, "{}[]") && bytes.ContainsAny(line, ",;\t") && bytes.Contains(text, []byte("\n")):
		return "CSV, but its header tells no type of resource: " + sheet.NeededColumns
	}
	return ""
}

// gzipFile is a compressed file that is read.
type gzipFile struct {
	*gzip.Reader // nil before the first byte
	file         io.ReadCloser
}

// openGzip opens a compressed file, and returns a reader of its content that closes both.
func openGzip(open func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	file, err := open()
	return &gzipFile{nil, file}, err
}

// Read says what to do about a file that ends early or is damaged.
func (f *gzipFile) Read(into []byte) (n int, err error) {
	if f.Reader == nil {
		f.Reader, err = gzip.NewReader(f.file)
	}
	if err == nil {
		n, err = f.Reader.Read(into)
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("the gzip file is incomplete or damaged (%w); copy it again, or compress it again", err)
	}
	return n, err
}

func (f *gzipFile) Close() error { return f.file.Close() }
