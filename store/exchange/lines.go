package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"portico/store/exchange/check"
)

// readLines splits a file into batches of lines; the first line is number 1. A batch ends after ImportOptions.Batch lines, or with the
// line that makes it longer than 4 MiB. do may keep the lines. The error is that of file or of do.
func readLines(file io.Reader, options ImportOptions, do func(first int, lines [][]byte) error) error {
	reader := bufio.NewReaderSize(file, 1<<20)
	first, size, read := 1, 0, int64(0)
	var lines [][]byte
	flush := func() error {
		if len(lines) == 0 {
			return nil
		}
		if options.Progress != nil {
			options.Progress(read)
		}
		err := do(first, lines)
		first, lines, size, read = first+len(lines), nil, 0, 0
		return err
	}
	for {
		line, err := readLine(reader, cmp.Or(options.LineBytes, defaultLineBytes))
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", first+len(lines), err)
		}
		if len(line) > 0 {
			lines = append(lines, line)
			size += len(line)
			read += int64(len(line))
		}
		if len(lines) == cmp.Or(options.Batch, defaultBatch) || size > 4<<20 {
			if err := flush(); err != nil {
				return err
			}
		}
		if err != nil {
			return flush()
		}
	}
}

// readLine reads a line with its newline. A longer one is cut to most+1 bytes without a newline, which Decoder.Batch
// refuses.
func readLine(reader *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		line = append(line, part...)
		if content := bytes.TrimSuffix(line, []byte("\n")); len(content) > most {
			line = content[:most+1]
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// newLineDecoder returns a decoder of the lines of an import.
func newLineDecoder(options ImportOptions) *check.Decoder {
	return check.NewDecoder(options.Lenient, cmp.Or(options.LineBytes, defaultLineBytes), options.Row, options.Skip)
}
