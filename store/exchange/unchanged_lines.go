package exchange

import (
	"bytes"
	"context"
	"hash/maphash"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/exchange/check"
	"portico/store/stock"
)

// unchangedLines are the lines that equal what is stored, found during the check; later passes
// skip them. It takes one bit a line, and a fixed amount for differing ids: of two lines
// with one id the later wins, so a line counts as the same only if no line before it with
// its id differs.
type unchangedLines struct {
	lines     bitset          // the same whatever the others are
	stock     bitset          // balances, the same only if no ledger entry is new
	ledger    bool            // a ledger entry is new
	differing bloomFilter     // ids of lines that differ
	empty     map[string]bool // tables that were empty at the first line of their type
}

func newUnchangedLines() *unchangedLines {
	return &unchangedLines{differing: bloomFilter{seed: maphash.MakeSeed(), bits: make(bitset, 1<<17)}, empty: map[string]bool{}}
}

// has reports whether a line can be skipped.
func (l *unchangedLines) has(line int) bool {
	return l.lines.has(line) || !l.ledger && l.stock.has(line)
}

// compare compares checked lines with the store, in the order of the file. Lines with errors do not count.
func (l *unchangedLines) compare(ctx context.Context, in db.Session, batch []check.Line) error {
	byKind := map[string][]check.Line{}
	for _, d := range batch {
		if d.Source != nil && len(d.Errors) == 0 {
			byKind[d.Kind] = append(byKind[d.Kind], d)
		}
	}
	w := &authoring.Writer{Tx: &db.Tx{Session: in}}
	for _, kind := range check.Kinds {
		if kind.Whole == nil {
			continue
		}
		if err := l.noteBodies(ctx, w, *kind.Whole, byKind[kind.Name]); err != nil {
			return err
		}
	}
	if err := l.noteLedger(ctx, w, byKind["stock_transaction"]); err != nil {
		return err
	}
	return l.noteStocks(ctx, w, byKind["stock"])
}

// mark records a line as the same, or its id as differing.
func (l *unchangedLines) mark(lines *bitset, d check.Line, same bool) {
	if !same {
		l.differing.add(d.Kind, d.Source.Key())
	} else if !l.differing.has(d.Kind, d.Source.Key()) {
		lines.set(d.Number)
	}
}

// noteBodies marks the lines of a type that is stored as a whole.
func (l *unchangedLines) noteBodies(ctx context.Context, w *authoring.Writer, table authoring.Table, list []check.Line) error {
	if empty, err := l.isEmpty(ctx, w, table.Name, list); empty || err != nil {
		return err
	}
	return store.Chunked(list, 512, func(list []check.Line) error {
		rows, err := db.CollectIn(ctx, w.Session, db.ScanPair[string, []byte], keysOf(list), `SELECT id, body FROM `+table.Name+` WHERE id IN ($in)`)
		if err != nil {
			return err
		}
		bodies := db.PairMap(rows)
		for _, d := range list {
			body, known := bodies[d.Source.Key()]
			l.mark(&l.lines, d, known && bytes.Equal(body, store.Encode(d.Source)))
		}
		return nil
	})
}

// isEmpty reports whether a table had no rows at the first line of its type. Then no line is
// unchanged, also if rows are added meanwhile: writing an equal row changes nothing.
func (l *unchangedLines) isEmpty(ctx context.Context, w *authoring.Writer, table string, list []check.Line) (bool, error) {
	empty, known := l.empty[table]
	if known || len(list) == 0 {
		return empty, nil
	}
	_, found, err := db.One(ctx, w.Session, db.Scalar[int], `SELECT 1 FROM `+table+` LIMIT 1`)
	l.empty[table] = !found
	return !found, err
}

// noteLedger marks ledger entries: stored ones never change.
func (l *unchangedLines) noteLedger(ctx context.Context, w *authoring.Writer, list []check.Line) error {
	if empty, err := l.isEmpty(ctx, w, "stock_transaction", list); empty || err != nil {
		l.ledger = l.ledger || len(list) > 0
		return err
	}
	known, err := w.Existing(ctx, "stock_transaction", keysOf(list))
	for _, d := range list {
		l.ledger = l.ledger || !known[d.Source.Key()]
		l.mark(&l.lines, d, known[d.Source.Key()])
	}
	return err
}

// noteStocks marks balances that equal the stored ones.
func (l *unchangedLines) noteStocks(ctx context.Context, w *authoring.Writer, list []check.Line) error {
	if empty, err := l.isEmpty(ctx, w, "stock", list); empty || err != nil {
		return err
	}
	before, err := stock.StocksByID(ctx, w, keysOf(list))
	for _, d := range list {
		had := before[d.Source.Key()]
		l.mark(&l.stock, d, had != nil && *d.Source.(*stock.Source).Stock(had, w.Now) == *had)
	}
	return err
}

func keysOf(list []check.Line) []string {
	keys := make([]string, len(list))
	for i, d := range list {
		keys[i] = d.Source.Key()
	}
	return keys
}

// bitset is a set of small integers.
type bitset []uint64

func (b *bitset) set(n int) {
	for len(*b) <= n/64 {
		*b = append(*b, 0)
	}
	(*b)[n/64] |= 1 << (n % 64)
}

func (b bitset) has(n int) bool { return n/64 < len(b) && b[n/64]&(1<<(n%64)) != 0 }

// bloomFilter is a Bloom filter: a set in fixed memory with false positives, here lines that are written though they are the same.
type bloomFilter struct {
	seed maphash.Seed
	bits bitset
}

// places returns the two bits of a key, one of each half of its hash.
func (f *bloomFilter) places(kind, key string) [2]int {
	sum := maphash.Comparable(f.seed, [2]string{kind, key})
	size := uint64(len(f.bits) * 64)
	return [2]int{int(sum % size), int(sum >> 32 % size)}
}

func (f *bloomFilter) add(kind, key string) {
	for _, place := range f.places(kind, key) {
		f.bits.set(place)
	}
}

func (f *bloomFilter) has(kind, key string) bool {
	for _, place := range f.places(kind, key) {
		if !f.bits.has(place) {
			return false
		}
	}
	return true
}
