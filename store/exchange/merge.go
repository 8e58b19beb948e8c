package exchange

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/exchange/check"
)

// A lineMerger writes the lines of an import to a temporary file, each merged onto the resource that
// is stored, so that every later pass sees whole resources. Line numbers stay the same. What is written
// is merged anew where the resource changed meanwhile. It keeps 30 bytes for each line, for resources
// that several lines change.
type lineMerger struct {
	db       *db.DB
	decoder  *check.Decoder
	rowsOnly bool // only rows of sheets are merged
	seed     maphash.Seed
	file     *os.File
	out      *bufio.Writer
	written  int64                // bytes, also those that out still holds
	places   map[uint64]linePlace // of the last line of a resource in the file
	maxBytes int                  // longest line that is merged; the decoder refuses longer ones
}

// A merged line of the temporary file ends with its patch: patchMark, the hash in patchHash digits, and the text.
// JSON has no patchMark. A line that was not merged ends with patchMark alone.
const (
	patchMark = "\x1e"
	patchHash = 16
)

func appendPatch(line []byte, p *check.Patch) []byte {
	line = append(line, patchMark...)
	if p != nil {
		line = append(fmt.Appendf(line, "%0*x", patchHash, p.Before), p.Text...)
	}
	return line
}

// cutPatch returns a line of the temporary file as it was merged, and its patch.
func cutPatch(line []byte) ([]byte, *check.Patch) {
	at := bytes.LastIndex(line, []byte(patchMark))
	merged, patch := line[:at], bytes.TrimSuffix(line[at+1:], []byte("\n"))
	if len(patch) == 0 {
		return merged, nil
	}
	before, _ := strconv.ParseUint(string(patch[:patchHash]), 16, 64)
	return merged, &check.Patch{Before: before, Text: bytes.Clone(patch[patchHash:])}
}

// linePlace is where a line is in the temporary file.
type linePlace struct {
	at   int64
	size int
}

// mergeBatch is the most lines whose stored resources are read at a time. A node may have all
// products of a shop.
const mergeBatch = 200

// mergeLines writes the merged lines, which the caller removes. It adds to decoder the warnings that the
// merged lines no longer show.
func (s *Service) mergeLines(ctx context.Context, decoder *check.Decoder, open func() (io.ReadCloser, error), options ImportOptions) (*lineMerger, error) {
	file, err := os.CreateTemp("", "portico-merge-*.ndjson")
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	m := &lineMerger{db: s.db, decoder: decoder, rowsOnly: !options.Merge, seed: maphash.MakeSeed(), file: file, out: bufio.NewWriterSize(file, 1<<16),
		places: map[uint64]linePlace{}, maxBytes: cmp.Or(options.LineBytes, defaultLineBytes)}
	if err := m.run(ctx, open, options); err != nil {
		m.remove()
		return nil, fmt.Errorf("merge: %w", err)
	}
	decoder.CutPatch = cutPatch
	return m, nil
}

// open opens the merged lines.
func (m *lineMerger) open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(m.file, 0, m.written)), nil
}

func (m *lineMerger) remove() { m.file.Close(); os.Remove(m.file.Name()) }

// lineBytes is the longest line of the temporary file. Merged lines that are longer than the limit are read whole,
// since each ends with its patch.
func (m *lineMerger) lineBytes() int { return math.MaxInt - 1 }

func (m *lineMerger) run(ctx context.Context, open func() (io.ReadCloser, error), options ImportOptions) error {
	from, err := open()
	if err != nil {
		return err
	}
	defer from.Close()
	options.Progress, options.Batch = nil, mergeBatch
	if err := readLines(from, options, func(first int, lines [][]byte) error { return m.batch(ctx, first, lines) }); err != nil {
		return err
	}
	return m.out.Flush()
}

// partialLine is the resource of a line before it is merged. Lines that are not merged, such as wrong ones and deletions, have
// no hash.
type partialLine struct {
	kind, id string
	hash     uint64 // of kind and id
	whole    bool   // it replaces the resource, and later lines may be merged onto it
	row      bool   // of a sheet
}

// batch merges some lines and writes them.
func (m *lineMerger) batch(ctx context.Context, first int, lines [][]byte) error {
	partial := make([]partialLine, len(lines))
	wanted := map[string][]string{}
	for i, line := range lines {
		partial[i] = m.identify(first+i, line)
		if partial[i].hash != 0 && !partial[i].whole {
			wanted[partial[i].kind] = append(wanted[partial[i].kind], partial[i].id)
		}
	}
	stored, err := m.stored(ctx, wanted)
	if err != nil {
		return err
	}
	for i, line := range lines {
		if err := m.write(first+i, partial[i], line, stored); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// identify returns which resource a line changes. It adds a warning to the decoder if the line repeats a member.
func (m *lineMerger) identify(number int, line []byte) (p partialLine) {
	var head struct {
		Type string          `json:"type"`
		ID   string          `json:"id"`
		Slug string          `json:"slug"` // the key of gateways
		Gone json.RawMessage `json:"deleted"`
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	kind := authoring.Kind{}
	if len(line) <= m.maxBytes && store.CheckImportLine(text) == nil && store.DecodeJSON(text, &head) == nil {
		kind = check.KindByName(head.Type)
	}
	if kind.Name == "" || m.decoder.LeftTypes[kind.Name] || head.Gone != nil {
		return p
	}
	p.kind, p.id = kind.Name, head.ID
	switch kind.Name {
	case "gateway":
		p.id = head.Slug
	case "settings":
		p.id = "settings"
	default:
		p.id, _ = store.CanonicalID(head.ID)
	}
	p.hash = maphash.Comparable(m.seed, p)
	p.row = m.decoder.Row(number).IsRow
	p.whole = m.rowsOnly && !p.row
	if p.whole {
		return p // its repeated members are found when it is decoded
	}
	if twice := check.RepeatedMembers(text); twice != nil {
		m.decoder.Warned[number] = twice
	}
	return p
}

// stored returns the lines of resources as an export writes them.
func (m *lineMerger) stored(ctx context.Context, wanted map[string][]string) (map[partialLine][]byte, error) {
	lines := map[partialLine][]byte{}
	err := m.db.Snapshot(ctx, func(in db.Session) error {
		for name, ids := range wanted {
			if err := eachStored(ctx, in, check.KindByName(name), store.Unique(ids), func(d check.Line, line []byte) {
				lines[partialLine{kind: name, id: d.Source.Key()}] = bytes.Clone(line)
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return lines, err
}

// write writes a line, merged if it changes a resource: onto the last line of the resource in the file, else onto the stored
// one. It appends the patch and remembers the place of the line.
func (m *lineMerger) write(number int, p partialLine, line []byte, stored map[partialLine][]byte) error {
	end := []byte("\n")
	if content, ended := bytes.CutSuffix(line, end); ended {
		line = content
	} else {
		end = nil
	}
	var patch *check.Patch
	if p.hash != 0 && !p.whole {
		before := stored[partialLine{kind: p.kind, id: p.id}]
		if place, twice := m.places[p.hash]; twice {
			if err := m.out.Flush(); err != nil {
				return err
			}
			before = make([]byte, place.size)
			if _, err := m.file.ReadAt(before, place.at); err != nil {
				return err
			}
		}
		patch = &check.Patch{Before: m.hash(before), Text: bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))}
		line = mergedLine(m.decoder, m.db.Now(), before, patch.Text, p.row)
	}
	if p.hash != 0 {
		m.places[p.hash] = linePlace{m.written, len(line)}
	}
	line = append(appendPatch(line, patch), end...)
	m.written += int64(len(line))
	_, err := m.out.Write(line)
	return err
}

// hash identifies a line that others are merged onto; 0 for none.
func (m *lineMerger) hash(line []byte) uint64 {
	if line == nil {
		return 0
	}
	return max(1, maphash.Bytes(m.seed, line))
}

// mergedLine merges a line onto the stored one, nil if there is none. If that changes something, and the
// line does not set the time of the last change, it is now. dropEmptied is that of store.MergeObject.
func mergedLine(decoder *check.Decoder, at time.Time, before, line []byte, dropEmptied bool) []byte {
	merged := store.MergeObject(before, line, dropEmptied)
	if before == nil || bytes.Equal(merged, store.MergeObject(before, []byte("{}"), false)) {
		return merged
	}
	if was, is := decoder.Decode(before), decoder.Decode(merged); is.Source == nil || bytes.Equal(store.Encode(was.Source), store.Encode(is.Source)) {
		return merged
	}
	type times struct {
		UpdatedAt json.RawMessage `json:"updated_at,omitempty"`
	}
	var had, sent struct {
		times
		Attributes times `json:"attributes"`
	}
	if json.Unmarshal(before, &had) != nil || json.Unmarshal(line, &sent) != nil {
		return merged
	}
	now, _ := json.Marshal(store.FormatTime(at))
	switch {
	case had.Attributes.UpdatedAt != nil && sent.Attributes.UpdatedAt == nil:
		merged = store.MergeObject(merged, fmt.Appendf(nil, `{"attributes":{"updated_at":%s}}`, now), false)
	case had.UpdatedAt != nil && sent.UpdatedAt == nil:
		merged = store.MergeObject(merged, fmt.Appendf(nil, `{"updated_at":%s}`, now), false)
	}
	return merged
}
