package code

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// ErrUnprepared is returned by SetCase if PrepareCase must run before.
var ErrUnprepared = errors.New("codes have no keys yet")

// maxCaseConflicts is the most conflicts that PrepareCase names.
const maxCaseConflicts = 10

// promotionsAtOnce is how many promotions are locked together.
const promotionsAtOnce = 200

// SetCase sets whether codes match without regard to case. To switch it on, it returns ErrUnprepared unless
// the caller has prepared it (PrepareCase). After the commit of switching it off, call ClearCase.
func SetCase(ctx context.Context, t *db.Tx, ignored, prepared bool) error {
	state, err := readCaseForNew(ctx, t)
	switch {
	case err != nil || ignored == (state == caseIgnored) && state != caseTurningOn:
		return err
	case !ignored:
		return setCase(ctx, t, caseTurningOff)
	case state != caseTurningOn || !prepared:
		return ErrUnprepared
	}
	return setCase(ctx, t, caseIgnored)
}

func setCase(ctx context.Context, t *db.Tx, state caseState) error {
	_, err := t.Exec(ctx, `UPDATE settings SET code_case = $1 WHERE id = 1`, int(state))
	return err
}

// PrepareCase gives every code its key, in short transactions, so that SetCase can switch the setting on. From
// its start, new codes claim their keys. It reads each code once, and writes those that are not their own
// key. It returns UNPROCESSABLE at codes_ignore_case for codes of promotions that have not ended and that
// differ in case alone, naming both; nothing has changed then.
func PrepareCase(ctx context.Context, d *db.DB, actor store.Actor) error {
	if err := d.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		state, err := readCaseForNew(ctx, t)
		if err != nil || state == caseTurningOn || state == caseIgnored {
			return err
		}
		return setCase(ctx, t, caseTurningOn)
	}); err != nil {
		return err
	}
	var conflicts store.Errors
	err := eachPromotion(ctx, d, actor, func(p *rule.Promotion) error {
		return eachCased(ctx, d, p, `code`, func(codes []string) error {
			var found store.Errors
			err := d.Update(ctx, actor, func(ctx context.Context, t *db.Tx) (err error) {
				found, err = keyCodes(ctx, t, p.ID, codes)
				return err
			})
			conflicts = append(conflicts, found...)
			if err == nil && len(conflicts) >= maxCaseConflicts {
				err = conflicts
			}
			return err
		})
	})
	if err == nil && len(conflicts) > 0 {
		err = conflicts
	}
	if len(conflicts) > 0 {
		return errors.Join(clearAfter(ctx, d, actor), err)
	}
	return err
}

// clearAfter ends a preparation that found conflicts.
func clearAfter(ctx context.Context, d *db.DB, actor store.Actor) error {
	err := d.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		_, err := t.Exec(ctx, `UPDATE settings SET code_case = $1 WHERE id = 1 AND code_case = $2`, int(caseTurningOff), int(caseTurningOn))
		return err
	})
	if err != nil {
		return err
	}
	return ClearCase(ctx, d, actor)
}

// ClearCase deletes the claims of keys after the setting was switched off, in short transactions. Until then
// the codes that the keys are cannot be created. It does nothing if the setting was not switched off.
func ClearCase(ctx context.Context, d *db.DB, actor store.Actor) error {
	state, _, err := db.One(ctx, d.Reader, db.Scalar[caseState], `SELECT code_case FROM settings WHERE id = 1`)
	if err != nil || state != caseTurningOff {
		return err
	}
	if err := eachPromotion(ctx, d, actor, func(p *rule.Promotion) error {
		return eachCased(ctx, d, p, `code_key`, func(codes []string) error {
			return d.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
				return clearKeys(ctx, t, p, codes)
			})
		})
	}); err != nil {
		return err
	}
	return d.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		_, err := t.Exec(ctx, `UPDATE settings SET code_case = $1 WHERE id = 1 AND code_case = $2`, int(caseExact), int(caseTurningOff))
		return err
	})
}

// eachPromotion calls do with every promotion. Codes that are created in one afterwards, or while do runs,
// read the state as it is now.
func eachPromotion(ctx context.Context, d *db.DB, actor store.Actor, do func(*rule.Promotion) error) error {
	for after := int64(-1); ; {
		page, err := db.Collect(ctx, d.Reader, db.ScanPair[string, int64], `SELECT id, number FROM promotion WHERE number > $1 ORDER BY number LIMIT $2`, after, promotionsAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		ids := make([]string, len(page))
		for i, p := range page {
			ids[i], after = p.Key, p.Value
		}
		var locked map[string]*rule.Promotion
		if err := d.Update(ctx, actor, func(ctx context.Context, t *db.Tx) (err error) {
			locked, err = rule.LockPromotions(ctx, t, ids)
			return err
		}); err != nil {
			return err
		}
		for _, id := range ids {
			if p := locked[id]; p != nil {
				if err := do(p); err != nil {
					return err
				}
			}
		}
	}
}

// eachCased calls do with the codes of a promotion that are not their own key, at most 512 at a time. column is
// code, or code_key for those only that have a key in the database.
func eachCased(ctx context.Context, d *db.DB, p *rule.Promotion, column string, do func(codes []string) error) error {
	for after := ""; ; {
		page, err := db.Collect(ctx, d.Reader, db.Scalar[string], `
			SELECT code FROM promotion_code WHERE promotion_number = $1 AND epoch = $2 AND code > $3 AND `+column+` IS NOT NULL ORDER BY code LIMIT $4`,
			p.Number, p.Epoch, after, db.PageRows)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1]
		cased := slices.DeleteFunc(page, func(code string) bool { return Key(code) == code })
		if err := store.Chunked(cased, 512, func(codes []string) error {
			defer db.Throttle(ctx)
			return do(codes)
		}); err != nil {
			return err
		}
	}
}

// clearKeys deletes the claims of the keys of codes, if the setting is still being switched off.
func clearKeys(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []string) error {
	locked, err := rule.LockPromotions(ctx, t, []string{p.ID})
	if err != nil || locked[p.ID] == nil {
		return err
	}
	state, err := readCase(ctx, t)
	if err != nil || state != caseTurningOff {
		return err
	}
	keys := make([]string, len(codes))
	for i, code := range codes {
		keys[i] = Key(code)
	}
	return deleteKeyClaims(ctx, t, p.Number, p.Epoch, store.Unique(keys))
}

// keyCodes stores the keys of codes of a promotion, and claims them unless it has ended. It returns an error
// for each code whose key another code has claimed.
func keyCodes(ctx context.Context, t *db.Tx, promotionID string, codes []string) (conflicts store.Errors, err error) {
	locked, err := rule.LockPromotions(ctx, t, []string{promotionID})
	p := locked[promotionID]
	if err != nil || p == nil {
		return nil, err
	}
	if state, err := readCase(ctx, t); err != nil || state != caseTurningOn {
		if err == nil && state != caseIgnored {
			err = &store.Error{Code: store.Conflict, Path: []string{"codes_ignore_case"}, Detail: "was switched off by another request meanwhile. Send the request again."}
		}
		return nil, err
	}
	known, err := lockCodes(ctx, t, p, codes)
	if err != nil {
		return nil, err
	}
	codes = slices.DeleteFunc(slices.Clone(codes), func(code string) bool { return !known[code] })
	if err := storeKeys(ctx, t, p, codes); err != nil {
		return nil, err
	}
	if ended, err := p.Ended(ctx, t); err != nil || ended {
		return nil, err
	}
	byKey := map[string]string{}
	for _, code := range codes {
		key := Key(code)
		if other := byKey[key]; other != "" {
			conflicts = append(conflicts, caseConflict(other, code))
			continue
		}
		byKey[key] = code
	}
	keys := caseExact.claims(slices.Collect(maps.Keys(byKey)))
	claimed, err := claimTexts(ctx, t, p, keys)
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return claimed[key] })
	holders, err := codesOfKeys(ctx, t.Session, keys)
	for _, key := range keys {
		for _, other := range holders[key] {
			if code := byKey[key]; other != code {
				conflicts = append(conflicts, caseConflict(other, code))
				break
			}
		}
	}
	return conflicts, err
}

func caseConflict(a, b string) *store.Error {
	return store.Unprocessablef([]string{"codes_ignore_case"}, "cannot be true: the codes %q and %q differ only in case. Delete one of them, and send the request again.",
		store.Abbreviate(min(a, b)), store.Abbreviate(max(a, b)))
}

// storeKeys stores the keys of codes.
func storeKeys(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []string) error {
	return store.InBlocks(codes, 128, func(codes []string) error {
		args, rows := []any{p.Number, p.Epoch}, make([]string, len(codes))
		for i, code := range codes {
			rows[i] = fmt.Sprintf("(CAST($%d AS TEXT), CAST($%d AS TEXT))", len(args)+1, len(args)+2)
			args = append(args, code, Key(code))
		}
		_, err := t.Exec(ctx, `
			WITH keyed (code, code_key) AS (VALUES `+strings.Join(rows, ", ")+`)
			UPDATE promotion_code SET code_key = keyed.code_key FROM keyed
			WHERE promotion_code.promotion_number = $1 AND promotion_code.epoch = $2 AND promotion_code.code = keyed.code AND promotion_code.code_key IS NULL`, args...)
		return err
	})
}
