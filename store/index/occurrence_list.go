package index

import (
	"slices"

	"portico/internal/heapsize"
)

// OccurrenceList is an encoded list of occurrences.
type OccurrenceList struct {
	Body []byte
	// marks are places to begin reading, one after each markedEntries entries; nil for a list that was not Marked.
	marks []OccurrenceMark
	count int // of the entries of a list with marks
}

// OccurrenceMark is a place in a list: before the entry at an offset comes the one of an ordinal.
type OccurrenceMark struct{ ordinal, offset uint32 }

// OccurrenceMarks are the marks of a list, and how many entries it has.
type OccurrenceMarks struct {
	marks []OccurrenceMark
	count int
}

// Size is the memory of the marks in bytes.
func (m OccurrenceMarks) Size() int { return heapsize.Slice(cap(m.marks), 8) }

const (
	// MarkedBytes is the length from which a list is worth marks.
	MarkedBytes = 512
	// markedEntries is the number of entries from one mark to the next.
	markedEntries = 64
)

// Marks reads a list once to find its marks, for Marked. They take about a tenth of the list's memory.
func (l OccurrenceList) Marks() (m OccurrenceMarks) {
	r := l.reader()
	var entries [markedEntries]occurrenceEntry
	for {
		n := r.read(entries[:])
		if m.count += n; n < len(entries) {
			return m
		}
		m.marks = append(m.marks, OccurrenceMark{r.ordinal, uint32(r.at)})
	}
}

// Marked returns the list with its marks, with which it is counted and searched without reading it whole.
func (l OccurrenceList) Marked(m OccurrenceMarks) OccurrenceList {
	l.marks, l.count = m.marks, m.count
	return l
}

// Count returns the number of entries. It reads a list without marks.
func (l OccurrenceList) Count() (n int) {
	if l.marks != nil {
		return l.count
	}
	l.Each(func(uint32, occurrenceCode) { n++ })
	return n
}

// countOf counts the entries of some ordinals, which are sorted.
func (l OccurrenceList) countOf(ordinals Ordinals) (n int) {
	if len(ordinals) == 0 {
		return 0
	}
	var cursor occurrenceCursor
	cursor.reset(l)
	for _, ordinal := range ordinals {
		if _, found := cursor.find(ordinal); found {
			n++
		}
	}
	return n
}

// bounds returns the first and the last ordinal, if there are any entries.
func (l OccurrenceList) bounds() (first, last uint32, found bool) {
	r := l.reader()
	var entries [markedEntries]occurrenceEntry
	if r.read(entries[:1]) == 0 {
		return 0, 0, false
	}
	first = r.ordinal
	if len(l.marks) > 0 {
		end := l.marks[len(l.marks)-1]
		r.at, r.ordinal = int(end.offset), end.ordinal
	}
	for r.read(entries[:]) > 0 {
	}
	return first, r.ordinal, true
}

// Each calls found with each ordinal and its occurrence.
func (l OccurrenceList) Each(found func(ordinal uint32, code occurrenceCode)) {
	r := l.reader()
	var entries [markedEntries]occurrenceEntry
	for {
		n := r.read(entries[:])
		for _, entry := range entries[:n] {
			found(entry.ordinal, entry.code)
		}
		if n < len(entries) {
			return
		}
	}
}

// occurrenceEntry is a decoded entry.
type occurrenceEntry struct {
	ordinal uint32
	code    occurrenceCode
}

// occurrenceReader decodes a list.
type occurrenceReader struct {
	body    []byte
	at      int    // in body
	ordinal uint32 // of the entry before
}

func (l OccurrenceList) reader() occurrenceReader { return occurrenceReader{body: l.Body} }

// read decodes entries, as many as there are places for, or fewer at the end. It has no branch that depends on where an
// occurrence is, because the processor could not predict one. So it reads both bytes of a code, and masks what is not there.
func (r *occurrenceReader) read(into []occurrenceEntry) int {
	body, at, ordinal := r.body, r.at, r.ordinal
	n := 0
	for n < len(into) && at < len(body) {
		step := uint32(body[at])
		at++
		if step >= 0x80 {
			step &= 0x7f
			for shift := 7; ; shift += 7 {
				part := body[at]
				at++
				step |= uint32(part&0x7f) << shift
				if part < 0x80 {
					break
				}
			}
		}
		ordinal += step >> 2
		named, texts, last := int(step&1), int(step>>1&1), len(body)-1
		name, text := body[min(at, last)]&byte(-named), body[min(at+named, last)]&byte(-texts)
		into[n] = occurrenceEntry{ordinal, occurrenceCode{name: name, text: text}}
		at += named + texts
		n++
	}
	r.at, r.ordinal = at, ordinal
	return n
}

// occurrenceCursor looks up ordinals in a list, in ascending order. Marks let it skip what is between them.
type occurrenceCursor struct {
	marks   []OccurrenceMark // those after the last one that it skipped to
	reader  occurrenceReader
	entries [markedEntries]occurrenceEntry
	left    []occurrenceEntry // of entries, not below what was looked up last
}

// reset begins with a list.
func (c *occurrenceCursor) reset(l OccurrenceList) {
	c.marks, c.reader, c.left = l.marks, l.reader(), nil
}

// find returns the occurrence of an ordinal, which must not be below those that were looked up before.
func (c *occurrenceCursor) find(ordinal uint32) (code occurrenceCode, found bool) {
	for {
		if len(c.left) > 0 && c.left[len(c.left)-1].ordinal >= ordinal {
			for c.left[0].ordinal < ordinal {
				c.left = c.left[1:]
			}
			return c.left[0].code, c.left[0].ordinal == ordinal
		}
		c.skipTo(ordinal)
		n := c.reader.read(c.entries[:])
		if c.left = c.entries[:n]; n == 0 {
			return code, false
		}
	}
}

// skipTo goes to the last mark before an ordinal, unless the reader is there or beyond. It doubles its steps, and then
// searches between the last two, because the mark is mostly near.
func (c *occurrenceCursor) skipTo(ordinal uint32) {
	if len(c.marks) == 0 || c.marks[0].ordinal >= ordinal {
		return
	}
	end := 1
	for end < len(c.marks) && c.marks[end].ordinal < ordinal {
		end *= 2
	}
	at, _ := slices.BinarySearchFunc(c.marks[:min(end, len(c.marks))], ordinal, func(m OccurrenceMark, ordinal uint32) int {
		if m.ordinal < ordinal {
			return -1
		}
		return 1
	})
	mark := c.marks[at-1]
	c.marks = c.marks[at:]
	if int(mark.offset) > c.reader.at {
		c.reader.at, c.reader.ordinal = int(mark.offset), mark.ordinal
	}
}
