package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// ImportOptions say how to read a file.
type ImportOptions struct {
	Lenient bool // pass over unknown types and members

	// Stock writes stock records and lines of their ledger over those that the
	// store had before, and Settings the settings. Without them live numbers
	// stay, and the report counts what was left. A stock record is created, and
	// the settings of a store that nobody has set are set, either way.
	Stock, Settings bool

	// Batch is how many lines are written in one transaction; 0 means 4,000.
	// More cost less each, and keep other writers waiting for longer.
	Batch int

	// LineBytes is how long a line may be; 0 means 64 MiB.
	LineBytes int

	// Progress, if set, is called as bytes of the file are done; each of the
	// passes counts as a share of the whole. It may come from any goroutine.
	Progress func(done int64)
}

// ImportReport tells what an import did.
type ImportReport struct {
	Resources map[string]int // read, by type
	Changed   int            // resources that were new or different
	Left      map[string]int // resources that differ from those of the store and were left, by type

	// What a lenient import passed over: resources of unknown types, and
	// members that are not known. The first MaxPassed are told one by one, by
	// line; all are counted, by type, or by type and member with * for the
	// places of a list.
	Passed      []ImportFault
	PassedCount map[string]int
}

// MaxPassed bounds what is told of a lenient import, and maxPassedNames how
// many names it is counted by; the rest are counted together.
const (
	MaxPassed      = 20
	maxPassedNames = 1000
)

// pass notes what of a line is passed over.
func (r *ImportReport) pass(d decoded) {
	for _, passed := range d.passed {
		if len(r.Passed) < MaxPassed {
			r.Passed = append(r.Passed, ImportFault{d.line, d.kind, passed})
		}
		name := store.Abbreviate(d.kind)
		if d.source != nil {
			path := slices.Clone(passed.Path)
			for i, part := range path {
				if strings.Trim(part, "0123456789") == "" {
					path[i] = "*"
				}
			}
			name += " " + strings.Join(path, ".")
		}
		if _, known := r.PassedCount[name]; !known && len(r.PassedCount) >= maxPassedNames {
			name = "others"
		}
		r.PassedCount[name]++
	}
}

// ImportFault is one thing wrong with a line.
type ImportFault struct {
	Line int          // from 1
	Type string       // of the resource, where it could be told
	Err  *store.Error // Path is the member, as the file spells it
}

func (f ImportFault) Error() string {
	if f.Type == "" {
		return fmt.Sprintf("line %d: %s", f.Line, f.Err.Error())
	}
	return fmt.Sprintf("line %d: %s: %s", f.Line, f.Type, f.Err.Error())
}

// ImportFaults are what is wrong with a file, by line, at most MaxImportFaults
// of them. Nothing of the file was written.
type ImportFaults struct {
	Faults []ImportFault
	Count  int // all there are
}

// MaxImportFaults bounds the faults that are told.
const MaxImportFaults = 100

func (f *ImportFaults) Error() string {
	return fmt.Sprintf("%d faults, the first: %s", f.Count, f.Faults[0].Error())
}

const (
	importBatch = 4000     // lines written in one transaction, unless said otherwise
	lineBytes   = 64 << 20 // of one resource, unless said otherwise
)

// Import reads NDJSON, one resource a line, and writes it to the authoring
// tables, by id: what is there already and the same is left alone, so that a
// second import changes nothing. Stock records and settings that are there stay
// as they are, unless the options say otherwise. Lines may come in any order.
//
// The file is read through twice or three times, so open is called for each
// pass. The first pass checks every line; if one is at fault nothing is
// written and the error is *ImportFaults. Lines that it finds to say what the
// store holds are not read again. Memory does not grow with the file.
// An import that was killed is finished by running it again.
func (s *ExchangeService) Import(ctx context.Context, actor store.Actor, open func() (io.ReadCloser, error), options ImportOptions) (*ImportReport, error) {
	decoder := newDecoder(options.Lenient)
	decoder.most = cmp.Or(options.LineBytes, lineBytes)
	same := newSameLines()
	kept, err := newKeptLive(ctx, s, options)
	if err != nil {
		return nil, err
	}
	report, err := s.checkImport(ctx, decoder, same, kept, open, options)
	if err != nil {
		return nil, err
	}
	decoder.skip = same.has
	passes := []func(string) bool{func(string) bool { return true }}
	if slices.ContainsFunc(kinds, func(k authoring.Kind) bool { return report.Resources[k.Name] > 0 && report.Resources[k.After] > 0 }) {
		late := func(name string) bool { return kindOf(name).After != "" }
		passes = []func(string) bool{func(name string) bool { return !late(name) }, late}
	}
	for _, wanted := range passes {
		err := eachBatch(ctx, open, options, decoder, func(batch []decoded) error {
			batch = slices.DeleteFunc(batch, func(d decoded) bool { return d.source == nil || !wanted(d.kind) })
			changed, left, err := s.importBatch(ctx, actor, batch, kept)
			report.Changed += changed
			for kind, n := range left {
				report.Left[kind] += n
			}
			return err
		})
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// checkImport is the first pass.
func (s *ExchangeService) checkImport(ctx context.Context, decoder *decoder, same *sameLines, kept *keptLive, open func() (io.ReadCloser, error), options ImportOptions) (*ImportReport, error) {
	report := &ImportReport{Resources: map[string]int{}, Left: map[string]int{}, PassedCount: map[string]int{}}
	faults := &ImportFaults{}
	add := func(line int, kind string, err *store.Error) {
		if faults.Count++; len(faults.Faults) < MaxImportFaults {
			faults.Faults = append(faults.Faults, ImportFault{line, kind, err})
		}
	}
	graph := newReferences()
	err := eachBatch(ctx, open, options, decoder, func(batch []decoded) error {
		for _, d := range batch {
			for _, fault := range d.faults {
				add(d.line, d.kind, fault)
			}
			report.pass(d)
			if d.source != nil {
				report.Resources[d.kind]++
				graph.note(d)
			}
		}
		faulty, err := kept.ledger.check(ctx, batch)
		for _, fault := range faulty {
			add(fault.Line, fault.Type, fault.Err)
		}
		if err != nil || faults.Count > 0 {
			return err
		}
		return s.db.Snapshot(ctx, func(in db.Session) error { return same.note(ctx, in, batch) })
	})
	if err != nil {
		return nil, err
	}
	missing, err := graph.missing(ctx, s)
	if err != nil {
		return nil, err
	}
	for _, fault := range missing {
		add(fault.Line, fault.Type, fault.Err)
	}
	report.Left["stock_transaction"] = kept.ledger.left
	if faults.Count > 0 {
		slices.SortStableFunc(faults.Faults, func(a, b ImportFault) int { return a.Line - b.Line })
		return nil, faults
	}
	return report, nil
}

// eachBatch decodes a file on all processors and hands it on in order.
func eachBatch(ctx context.Context, open func() (io.ReadCloser, error), options ImportOptions, decoder *decoder, do func([]decoded) error) error {
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()

	// pending holds the batches under way, in the file's order.
	pending := make(chan chan []decoded, batchesAhead())
	var readErr error
	readers.Go(func() {
		defer close(pending)
		readErr = readLines(file, options, func(first int, lines [][]byte) error {
			result := make(chan []decoded, 1)
			select {
			case pending <- result:
			case <-ctx.Done():
				return ctx.Err()
			}
			readers.Go(func() { result <- decoder.batch(first, lines) })
			return nil
		})
	})
	for result := range pending {
		if err := do(<-result); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return readErr
}

// batchesAhead bounds how many batches wait for the one that is worked off.
func batchesAhead() int { return 2 * runtime.GOMAXPROCS(0) }

// readLines hands on a file's lines in batches; the first line is number 1.
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
		line, err := readLine(reader, cmp.Or(options.LineBytes, lineBytes))
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", first+len(lines), err)
		}
		if len(line) > 0 {
			lines = append(lines, line)
			size += len(line)
			read += int64(len(line))
		}
		if len(lines) == cmp.Or(options.Batch, importBatch) || size > 4<<20 {
			if err := flush(); err != nil {
				return err
			}
		}
		if err != nil {
			return flush()
		}
	}
}

// readLine is the next line with its end; of one of more than most bytes its
// first ones, one more than may be, so that a batch tells.
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

func (d *decoder) batch(first int, lines [][]byte) []decoded {
	batch := make([]decoded, 0, len(lines))
	for i, line := range lines {
		if len(bytes.TrimSuffix(line, []byte("\n"))) > d.most {
			batch = append(batch, decoded{line: first + i, faults: store.Errors{store.Unprocessablef(nil, "The line is longer than %d bytes, which is what a resource may take; shorten its texts and lists, or raise --line-bytes.", d.most)}})
			continue
		}
		line = bytes.TrimSpace(line)
		if i == 0 && first == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if len(line) == 0 || d.skip != nil && d.skip(first+i) {
			continue
		}
		result := d.decode(line)
		result.line = first + i
		batch = append(batch, result)
	}
	return batch
}
