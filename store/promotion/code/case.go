package code

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// caseState is how the shop compares codes (settings.code_case).
type caseState int

const (
	caseExact      caseState = 0 // byte by byte
	caseTurningOn  caseState = 1 // byte by byte, while SwitchCase prepares to ignore the case
	caseIgnored    caseState = 2 // by their keys
	caseTurningOff caseState = 3 // byte by byte, while SwitchCase clears up
)

// readCase returns the state. Read it after the promotion of new codes is locked: SwitchCase locks each
// promotion after it has changed the state, and so sees the codes of writes that read the state before.
func readCase(ctx context.Context, t *db.Tx) (caseState, error) {
	state, _, err := db.One(ctx, t.Session, db.Scalar[caseState], `SELECT code_case FROM settings WHERE id = 1`)
	return state, err
}

// readCaseForNew is readCase for a promotion that this write may have created, which SwitchCase cannot lock.
// The state does not change until this write ends.
func readCaseForNew(ctx context.Context, t *db.Tx) (caseState, error) {
	state, _, err := db.One(ctx, t.Session, db.Scalar[caseState], `SELECT code_case FROM settings WHERE id = 1`+t.ForUpdate("settings"))
	return state, err
}

// claimsKeys reports whether a code claims its key too. So the primary key of code_claim keeps codes with
// the same key apart.
func (s caseState) claimsKeys() bool { return s == caseTurningOn || s == caseIgnored }

// key returns a text that is the same for codes that must not be held at the same time.
func (s caseState) key(code string) string {
	if s.claimsKeys() {
		return Key(code)
	}
	return code
}

// claims returns what codes claim, sorted and without duplicates.
func (s caseState) claims(codes []string) []string {
	texts := slices.Clone(codes)
	if s.claimsKeys() {
		for _, code := range codes {
			texts = append(texts, Key(code))
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// wayOut tells what to do about codes that differ in case alone.
const wayOut = "they differ in case alone, and the setting codes_ignore_case is on. Use another code, delete that one, or set codes_ignore_case to false."

// duplicateOf returns the error of a code that cannot be held beside another one.
func duplicateOf(held, code string) *store.Error {
	e := duplicateCode()
	if held != "" && held != code {
		e.Documented, e.Detail = false, fmt.Sprintf("must not be %q: the code %q exists, %s", store.Abbreviate(code), store.Abbreviate(held), wayOut)
	}
	return e
}

// CaseConflict is the error of a code of which another one, held, differs in case alone.
func CaseConflict(held, code string) *store.Error { return duplicateOf(held, code).At("code") }

// deleteKeyClaims deletes claims of keys that no code of the epoch is written as. The promotion is locked.
func deleteKeyClaims(ctx context.Context, t *db.Tx, number, epoch int64, keys []string) error {
	return db.ExecIn(ctx, t.Session, keys, `
		DELETE FROM code_claim
		WHERE promotion_number = $1 AND epoch = $2 AND code IN ($in)
		  AND NOT EXISTS (SELECT 1 FROM promotion_code AS written WHERE written.promotion_number = $1 AND written.epoch = $2 AND written.code = code_claim.code)`, number, epoch)
}

// HeldInAnotherCase is a code of the store that differs from one to import in case alone.
type HeldInAnotherCase struct {
	Code, PromotionID string
	End               time.Time // of the promotion
}

// HeldInOtherCases returns the codes that keep lines from being imported without regard to case, by the index of
// the line. The code of a line with its id is not one of them.
func HeldInOtherCases(ctx context.Context, in db.Session, sources []authoring.Source) (map[int]HeldInAnotherCase, error) {
	byKey := map[string][]int{}
	for i, source := range sources {
		if c, is := source.(*codeSource); is {
			byKey[Key(c.Code)] = append(byKey[Key(c.Code)], i)
		}
	}
	if len(byKey) == 0 {
		return nil, nil
	}
	type holder struct {
		HeldInAnotherCase
		id string
	}
	scan := func(rows *sql.Rows) (h holder, err error) {
		var end int64
		err = rows.Scan(&h.Code, &h.id, &h.PromotionID, &end)
		h.End = store.FromMicros(end)
		return h, err
	}
	found := map[int]HeldInAnotherCase{}
	for _, column := range []string{"code", "code_key"} {
		holders, err := db.CollectIn(ctx, in, scan, slices.Sorted(maps.Keys(byKey)), `
			SELECT promotion_code.code, promotion_code.id, promotion.id, end_at FROM `+CurrentTables+` WHERE promotion_code.`+column+` IN ($in)
			  AND code_claim.promotion_number = promotion_code.promotion_number AND code_claim.epoch = promotion_code.epoch`)
		if err != nil {
			return nil, err
		}
		for _, h := range holders {
			for _, i := range byKey[Key(h.Code)] {
				if line := sources[i].(*codeSource); line.Code != h.Code && line.ID != h.id && found[i].End.Before(h.End) {
					found[i] = h.HeldInAnotherCase
				}
			}
		}
	}
	return found, nil
}

// EachInUse calls do with the codes of promotions that have not ended at a time, at most 1,000 at once, and the
// ids of their lines. It reads each code, so it also finds those of earlier versions, which have no keys yet.
func EachInUse(ctx context.Context, in db.Session, now time.Time, do func(ids []string, held []HeldInAnotherCase)) error {
	type current struct {
		id                 string
		number, epoch, end int64
	}
	scan := func(rows *sql.Rows) (p current, err error) {
		err = rows.Scan(&p.id, &p.number, &p.epoch, &p.end)
		return p, err
	}
	for after := int64(-1); ; {
		promotions, err := db.Collect(ctx, in, scan, `SELECT id, number, epoch, end_at FROM promotion WHERE number > $1 ORDER BY number LIMIT $2`, after, promotionsAtOnce)
		if err != nil || len(promotions) == 0 {
			return err
		}
		for _, p := range promotions {
			if after = p.number; p.end <= store.Micros(now) {
				continue
			}
			for last := ""; ; {
				page, err := db.Collect(ctx, in, db.ScanPair[string, string], `
					SELECT code, id FROM promotion_code WHERE promotion_number = $1 AND epoch = $2 AND code > $3 ORDER BY code LIMIT $4`, p.number, p.epoch, last, db.PageRows)
				if err != nil {
					return err
				}
				if len(page) == 0 {
					break
				}
				last = page[len(page)-1].Key
				ids, held := make([]string, len(page)), make([]HeldInAnotherCase, len(page))
				for i, code := range page {
					ids[i], held[i] = code.Value, HeldInAnotherCase{Code: code.Key, PromotionID: p.id, End: store.FromMicros(p.end)}
				}
				do(ids, held)
			}
		}
	}
}
