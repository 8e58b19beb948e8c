package exchange

import (
	"bytes"
	"context"
	"database/sql"
	"hash/maphash"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/stock"
)

// sameLines are the lines of a file that say what the store holds already,
// found while the file is checked: they need not be read again to be written.
// It takes a bit of memory a line, and a fixed amount for what differs.
//
// Of two lines with one id the later counts. So a line is the same only when
// none before it with its id differs.
type sameLines struct {
	lines     bitset
	stock     bitset // lines of balances, which hold only if no line of the ledger is new
	ledger    bool   // one is
	differing filter
}

func newSameLines() *sameLines {
	return &sameLines{differing: filter{seed: maphash.MakeSeed(), bits: make(bitset, 1<<17)}}
}

// has tells whether a line need not be written.
func (l *sameLines) has(line int) bool {
	return l.lines.has(line) || !l.ledger && l.stock.has(line)
}

// note compares checked lines with the store.
func (l *sameLines) note(ctx context.Context, in db.Session, batch []decoded) error {
	byKind := map[string][]decoded{}
	for _, d := range batch {
		if d.source != nil && len(d.faults) == 0 {
			byKind[d.kind] = append(byKind[d.kind], d)
		}
	}
	w := &authoring.Writer{Tx: &db.Tx{Session: in}}
	for _, kind := range kinds {
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

// mark notes a line as the same, or its id as one that differs.
func (l *sameLines) mark(lines *bitset, d decoded, same bool) {
	if !same {
		l.differing.add(d.kind, d.source.Key())
	} else if !l.differing.has(d.kind, d.source.Key()) {
		lines.set(d.line)
	}
}

func (l *sameLines) noteBodies(ctx context.Context, w *authoring.Writer, table authoring.Table, list []decoded) error {
	return store.Chunked(list, 512, func(list []decoded) error {
		bodies := make(map[string][]byte, len(list))
		places, args := db.InList(nil, keysOf(list))
		if _, err := db.Collect(ctx, w.Session, func(rows *sql.Rows) (none struct{}, err error) {
			var id string
			var body []byte
			err = rows.Scan(&id, &body)
			bodies[id] = body
			return none, err
		}, `SELECT id, body FROM `+table.Name+` WHERE id IN (`+places+`)`, args...); err != nil {
			return err
		}
		for _, d := range list {
			body, known := bodies[d.source.Key()]
			l.mark(&l.lines, d, known && bytes.Equal(body, store.Encode(d.source)))
		}
		return nil
	})
}

func (l *sameLines) noteLedger(ctx context.Context, w *authoring.Writer, list []decoded) error {
	known, err := w.Existing(ctx, "stock_transaction", keysOf(list))
	for _, d := range list {
		l.ledger = l.ledger || !known[d.source.Key()]
		l.mark(&l.lines, d, known[d.source.Key()])
	}
	return err
}

func (l *sameLines) noteStocks(ctx context.Context, w *authoring.Writer, list []decoded) error {
	before, err := stock.StocksByID(ctx, w, keysOf(list))
	for _, d := range list {
		had := before[d.source.Key()]
		l.mark(&l.stock, d, had != nil && *d.source.(*stock.StockSource).Stock(had, w.Now) == *had)
	}
	return err
}

func keysOf(list []decoded) []string {
	keys := make([]string, len(list))
	for i, d := range list {
		keys[i] = d.source.Key()
	}
	return keys
}

// bitset is a set of small numbers.
type bitset []uint64

func (b *bitset) set(n int) {
	for len(*b) <= n/64 {
		*b = append(*b, 0)
	}
	(*b)[n/64] |= 1 << (n % 64)
}

func (b bitset) has(n int) bool { return n/64 < len(b) && b[n/64]&(1<<(n%64)) != 0 }

// filter is a set in fixed memory, which may hold more than was added: a
// Bloom filter.
type filter struct {
	seed maphash.Seed
	bits bitset
}

func (f *filter) places(kind, key string) [2]int {
	sum := maphash.Comparable(f.seed, [2]string{kind, key})
	size := uint64(len(f.bits) * 64)
	return [2]int{int(sum % size), int(sum >> 32 % size)}
}

func (f *filter) add(kind, key string) {
	for _, place := range f.places(kind, key) {
		f.bits.set(place)
	}
}

func (f *filter) has(kind, key string) bool {
	for _, place := range f.places(kind, key) {
		if !f.bits.has(place) {
			return false
		}
	}
	return true
}
