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

// codeCaseChecker finds codes of a file that differ in case alone from each other or from codes of the store, if the shop
// ignores case or the file says so. It takes about 40 bytes for each code.
type codeCaseChecker struct {
	now      time.Time
	applies  bool // settings of the file are written
	on, want bool // before the import, and after its settings
	line     int  // of the settings
	seed     maphash.Seed
	codes    map[uint64]uint64                   // the hash of a code by that of its key
	repeated map[uint64]bool                     // keys of several codes
	held     map[int]code.HeldInAnotherCase      // codes of the store, by line
	others   map[uint64][]code.HeldInAnotherCase // codes of the store that may conflict, by the hash of their key
}

func newCodeCaseChecker(ctx context.Context, d *db.DB, applies bool) (*codeCaseChecker, error) {
	current, err := db.ReadSettings(ctx, d.Reader)
	if err != nil {
		return nil, err
	}
	return &codeCaseChecker{now: d.Now(), applies: applies, on: current.CodesIgnoreCase, want: current.CodesIgnoreCase, seed: maphash.MakeSeed(),
		codes: map[uint64]uint64{}, repeated: map[uint64]bool{}, held: map[int]code.HeldInAnotherCase{},
		others: map[uint64][]code.HeldInAnotherCase{}}, nil
}

func (c *codeCaseChecker) add(d decodedLine) {
	if ignore := settings.CodesIgnoreCase(d.source); ignore != nil && c.applies {
		c.want, c.line = *ignore, d.line
	}
	if c.on {
		c.addCode(d)
	}
}

func (c *codeCaseChecker) keyHash(text string) uint64 { return maphash.String(c.seed, code.Key(text)) }

func (c *codeCaseChecker) addCode(d decodedLine) {
	if _, text := code.OfSource(d.source); text != "" {
		key, hash := c.keyHash(text), maphash.String(c.seed, text)
		if before, known := c.codes[key]; known && before != hash {
			c.repeated[key] = true
		}
		c.codes[key] = hash
	}
}

// addHeld adds what the store holds in another case. If the setting changes, scan finds it.
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

// scan finds what keeps the setting from being switched on: codes of the store that may conflict with those of the file,
// and codes of the store that conflict with each other, which it returns. It reads the file, and each code of the store,
// once.
func (c *codeCaseChecker) scan(ctx context.Context, in db.Session, batches func(func([]decodedLine) error) error) (list []ImportError, err error) {
	if err := batches(func(batch []decodedLine) error {
		for _, d := range batch {
			c.addCode(d)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	err = code.EachHeld(ctx, in, c.now, func(page []code.HeldInAnotherCase) error {
		for _, held := range page {
			key := c.keyHash(held.Code)
			if hash, known := c.codes[key]; known && (c.repeated[key] || hash != maphash.String(c.seed, held.Code)) {
				c.others[key] = append(c.others[key], held)
			}
		}
		if len(list) >= MaxImportErrors {
			return nil
		}
		conflicts, err := code.SwitchConflicts(ctx, in, c.now, page)
		for _, conflict := range conflicts {
			list = append(list, ImportError{Line: c.line, Type: settings.SettingsKind.Name, Err: conflict})
		}
		return err
	})
	return list, err
}

// heldBeside returns a code of the store that differs from that of a line only in case; the zero value if there is none.
func (c *codeCaseChecker) heldBeside(line int, id, text string, ended map[string]bool) code.HeldInAnotherCase {
	for _, other := range c.others[c.keyHash(text)] {
		if other.Code != text && other.ID != id && !ended[other.PromotionID] {
			return other
		}
	}
	if held := c.held[line]; !ended[held.PromotionID] {
		return held
	}
	return code.HeldInAnotherCase{}
}

// conflicts returns an error for each code of a promotion that has not ended, if an earlier line or the store has such a
// code that differs in case alone. It reads the file again if there may be any.
func (c *codeCaseChecker) conflicts(ctx context.Context, in db.Session, batches func(func([]decodedLine) error) error) (list []ImportError, err error) {
	if c.want && !c.on {
		if list, err = c.scan(ctx, in, batches); err != nil {
			return nil, err
		}
	}
	if !c.want || len(c.repeated)+len(c.held)+len(c.others) == 0 {
		return list, nil
	}
	type writtenCode struct {
		line                int
		promotion, id, text string
	}
	var codes []writtenCode
	ended := map[string]bool{}
	if err := batches(func(batch []decodedLine) error {
		for _, d := range batch {
			if p, is := d.source.(*rule.Source); is {
				ended[p.ID] = !store.StoredTime(p.End).After(c.now)
			}
			promotion, text := code.OfSource(d.source)
			if text == "" {
				continue
			}
			key := c.keyHash(text)
			if _, held := c.held[d.line]; held || c.repeated[key] || len(c.others[key]) > 0 {
				codes = append(codes, writtenCode{d.line, promotion, d.source.Key(), text})
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
		if held := c.heldBeside(written.line, written.id, written.text, ended); held.Code != "" && !ended[written.promotion] {
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
