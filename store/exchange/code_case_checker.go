package exchange

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
	"portico/store/settings"
)

// codeCaseChecker finds codes of a file that differ in case alone, if the shop ignores it or an earlier line
// says so. It takes about 40 bytes for each code.
type codeCaseChecker struct {
	now      time.Time
	applies  bool // settings of the file are written
	on, want bool // before the import, and after its settings
	line     int  // of the settings
	seed     maphash.Seed
	codes    map[uint64]uint64              // the hash of a code by that of its key
	repeated map[uint64]bool                // keys of several codes
	held     map[int]code.HeldInAnotherCase // codes of the store, by line
	inUse    map[uint64]heldLine            // codes of the store, by key, if the file switches the setting on
}

// heldLine is a code of the store, with the id of its line.
type heldLine struct {
	code.HeldInAnotherCase
	id string
}

// maxHeldCodes is the most codes of the store to compare with lines when a file switches the setting on. The write
// of a line finds the others.
const maxHeldCodes = 10_000

func newCodeCaseChecker(ctx context.Context, d *db.DB, applies bool) (*codeCaseChecker, error) {
	current, err := db.ReadSettings(ctx, d.Reader)
	if err != nil {
		return nil, err
	}
	return &codeCaseChecker{now: d.Now(), applies: applies, on: current.CodesIgnoreCase, want: current.CodesIgnoreCase, seed: maphash.MakeSeed(),
		codes: map[uint64]uint64{}, repeated: map[uint64]bool{}, held: map[int]code.HeldInAnotherCase{},
		inUse: map[uint64]heldLine{}}, nil
}

func (c *codeCaseChecker) add(d decodedLine) {
	if ignore := settings.CodesIgnoreCase(d.source); ignore != nil && c.applies {
		c.want, c.line = *ignore, d.line
	}
	if _, text := code.OfSource(d.source); text != "" && (c.want || c.applies) { // settings may follow
		key, hash := maphash.String(c.seed, code.Key(text)), maphash.String(c.seed, text)
		if before, known := c.codes[key]; known && before != hash {
			c.repeated[key] = true
		}
		c.codes[key] = hash
	}
}

// addHeld adds what the store holds in another case. If the setting changes, addInUse finds it after the first pass.
func (c *codeCaseChecker) addHeld(ctx context.Context, in db.Session, batch []decodedLine) error {
	if !c.want || !c.on {
		return nil
	}
	lines, sources := []int{}, []authoring.Source{}
	for _, d := range batch {
		if _, text := code.OfSource(d.source); text != "" {
			lines, sources = append(lines, d.line), append(sources, d.source)
		}
	}
	held, err := code.HeldInOtherCases(ctx, in, sources)
	for i, other := range held {
		if other.End.After(c.now) && len(c.held) < MaxImportErrors {
			c.held[lines[i]] = other
		}
	}
	return err
}

// addInUse adds the codes of the store that differ from a code of the file in case alone, if the file switches the
// setting on. It reads each code of the store.
func (c *codeCaseChecker) addInUse(ctx context.Context, in db.Session) error {
	if !c.want || c.on || len(c.codes) == 0 {
		return nil
	}
	return code.EachInUse(ctx, in, c.now, func(ids []string, held []code.HeldInAnotherCase) {
		for i, other := range held {
			key := maphash.String(c.seed, code.Key(other.Code))
			if written, known := c.codes[key]; known && len(c.inUse) < maxHeldCodes && (c.repeated[key] || written != maphash.String(c.seed, other.Code)) {
				c.inUse[key] = heldLine{other, ids[i]}
			}
		}
	})
}

// heldBeside returns the code of the store that differs from that of a line in case alone.
func (c *codeCaseChecker) heldBeside(d decodedLine, text string) (code.HeldInAnotherCase, bool) {
	if held, is := c.held[d.line]; is || text == "" {
		return held, is
	}
	held, is := c.inUse[maphash.String(c.seed, code.Key(text))]
	return held.HeldInAnotherCase, is && held.Code != text && held.id != d.source.Key()
}

// conflicts returns an error for each code of a promotion that has not ended, if an earlier line or the store has such a
// code that differs in case alone. It reads the file again if there may be any.
func (c *codeCaseChecker) conflicts(ctx context.Context, in db.Session, batches func(func([]decodedLine) error) error) (list []ImportError, err error) {
	if err := c.addInUse(ctx, in); err != nil || !c.want || len(c.repeated)+len(c.held)+len(c.inUse) == 0 {
		return nil, err
	}
	type writtenCode struct {
		line            int
		promotion, text string
	}
	var codes []writtenCode
	ended := map[string]bool{}
	if err := batches(func(batch []decodedLine) error {
		for _, d := range batch {
			if p, is := d.source.(*rule.Source); is {
				ended[p.ID] = !store.StoredTime(p.End).After(c.now)
			}
			promotion, text := code.OfSource(d.source)
			held, is := c.heldBeside(d, text)
			if is {
				c.held[d.line] = held
			}
			if text != "" && (is || c.repeated[maphash.String(c.seed, code.Key(text))]) {
				codes = append(codes, writtenCode{d.line, promotion, text})
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var elsewhere []string
	for _, written := range codes {
		if _, known := ended[written.promotion]; !known {
			elsewhere = append(elsewhere, written.promotion)
		}
	}
	ends, err := db.CollectIn(ctx, in, db.ScanPair[string, int64], store.Unique(elsewhere), `SELECT id, end_at FROM promotion WHERE id IN ($in)`)
	for _, p := range ends {
		ended[p.Key] = p.Value <= store.Micros(c.now)
	}
	slices.SortStableFunc(codes, func(a, b writtenCode) int { return cmp.Compare(a.line, b.line) })
	first := map[string]string{}
	for _, written := range codes {
		if held := c.held[written.line]; held.Code != "" && !ended[written.promotion] && !ended[held.PromotionID] {
			list = append(list, ImportError{Line: written.line, Type: code.CodeKind.Name, Err: code.CaseConflict(held.Code, written.text)})
			continue
		}
		key := code.Key(written.text)
		if before := first[key]; !ended[written.promotion] && before == "" {
			first[key] = written.text
		} else if !ended[written.promotion] && before != written.text {
			list = append(list, ImportError{Line: written.line, Type: code.CodeKind.Name, Err: code.CaseConflict(before, written.text)})
		}
	}
	return list, err
}
