package code

import (
	"context"
	"slices"
	"time"

	"portico/store"
	"portico/store/db"
)

// readCase returns how codes match. The setting stays as it is until this write ends.
func readCase(ctx context.Context, t *db.Tx) (m Match, err error) {
	m.ignoreCase, _, err = db.One(ctx, t.Session, db.Scalar[bool], `SELECT codes_ignore_case FROM settings WHERE id = 1`+t.ForShare("settings"))
	return m, err
}

// claims returns what codes claim, sorted and without duplicates. Without regard to case a code claims its key too, so
// the primary key of code_claim keeps codes with the same key apart.
func (m Match) claims(codes []string) []string {
	texts := slices.Clone(codes)
	if m.ignoreCase {
		for _, code := range codes {
			texts = append(texts, Key(code))
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// fromHeld selects codes that can be in use: they claim themselves, and their promotion has not ended at $1.
const fromHeld = ` FROM ` + CurrentTables + `
	WHERE promotion.end_at > $1 AND code_claim.promotion_number = promotion_code.promotion_number AND code_claim.epoch = promotion_code.epoch`

// SetCase sets whether codes match without regard to case. To ignore it, every code claims its key, and else gives it back. It returns
// the error of CheckCase.
func SetCase(ctx context.Context, t *db.Tx, ignored bool) error {
	changed, err := t.Exec(ctx, `UPDATE settings SET codes_ignore_case = $1 WHERE id = 1 AND codes_ignore_case <> $1`, ignored)
	if err != nil || changed == 0 {
		return err
	}
	if !ignored {
		_, err := t.Exec(ctx, `
			DELETE FROM code_claim
			WHERE code IN (SELECT code_key FROM promotion_code WHERE code_key IS NOT NULL) AND NOT EXISTS (`+writtenAsClaimed+`)`)
		return err
	}
	now, err := t.SafeNow(ctx)
	if err != nil {
		return err
	}
	if err := CheckCase(ctx, t.Session, now); err != nil {
		return err
	}
	_, err = t.Exec(ctx, `
		INSERT INTO code_claim (code, promotion_number, epoch)
		SELECT promotion_code.code_key, promotion_code.promotion_number, promotion_code.epoch`+fromHeld+` AND promotion_code.code_key IS NOT NULL`+t.ForUpdate("promotion_code")+`
		ON CONFLICT (code) DO UPDATE SET promotion_number = excluded.promotion_number, epoch = excluded.epoch`, store.Micros(now))
	return err
}

// CheckCase returns UNPROCESSABLE at codes_ignore_case if two codes of promotions that have not ended at a time differ
// in case alone, naming both.
func CheckCase(ctx context.Context, in db.Session, now time.Time) error {
	two, found, err := db.One(ctx, in, db.ScanPair[string, string], `
		SELECT MIN(promotion_code.code), MAX(promotion_code.code)`+fromHeld+`
		GROUP BY COALESCE(promotion_code.code_key, promotion_code.code) HAVING COUNT(*) > 1 ORDER BY 1 LIMIT 1`, store.Micros(now))
	if err != nil || !found {
		return err
	}
	return store.Unprocessablef([]string{"codes_ignore_case"}, "cannot be true: the codes %q and %q differ only in case. Delete one of them, and send the request again.",
		store.Abbreviate(two.Key), store.Abbreviate(two.Value))
}

// writtenAsClaimed selects the code that is written as a row of code_claim says.
const writtenAsClaimed = `SELECT 1 FROM promotion_code AS written
	WHERE written.promotion_number = code_claim.promotion_number AND written.epoch = code_claim.epoch AND written.code = code_claim.code`

// deleteKeyClaims deletes claims of keys that no code of the epoch is written as. The promotion is locked.
func deleteKeyClaims(ctx context.Context, t *db.Tx, number, epoch int64, keys []string) error {
	return db.ExecIn(ctx, t.Session, keys, `
		DELETE FROM code_claim WHERE promotion_number = $1 AND epoch = $2 AND code IN ($in) AND NOT EXISTS (`+writtenAsClaimed+`)`, number, epoch)
}
