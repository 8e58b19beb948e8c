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

// duplicateOf returns the error of a code that cannot be held beside another one.
func duplicateOf(held, code string) *store.Error {
	e := duplicateCode(code)
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
	ID, Code, PromotionID string
	End                   time.Time // of the promotion
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
	holders, err := holdersOf(ctx, in, slices.Sorted(maps.Keys(byKey)))
	if err != nil {
		return nil, err
	}
	found := map[int]HeldInAnotherCase{}
	for _, h := range holders {
		for _, i := range byKey[Key(h.Code)] {
			if line := sources[i].(*codeSource); line.Code != h.Code && line.ID != h.ID && found[i].End.Before(h.End) {
				found[i] = h
			}
		}
	}
	return found, nil
}

// holdersOf returns the codes that have keys and claim themselves.
func holdersOf(ctx context.Context, in db.Session, keys []string) (holders []HeldInAnotherCase, err error) {
	scan := func(rows *sql.Rows) (h HeldInAnotherCase, err error) {
		var end int64
		err = rows.Scan(&h.Code, &h.ID, &h.PromotionID, &end)
		h.End = store.FromMicros(end)
		return h, err
	}
	for _, column := range []string{"code", "code_key"} {
		found, err := db.CollectIn(ctx, in, scan, keys, `
			SELECT promotion_code.code, promotion_code.id, promotion.id, end_at FROM `+CurrentTables+` WHERE promotion_code.`+column+` IN ($in)
			  AND code_claim.promotion_number = promotion_code.promotion_number AND code_claim.epoch = promotion_code.epoch`)
		if err != nil {
			return nil, err
		}
		holders = append(holders, found...)
	}
	return holders, nil
}
