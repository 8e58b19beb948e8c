package code

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// claim claims codes, which must be sorted and distinct, for a promotion that has not ended. It
// returns the codes that the promotion now holds; the others belong to a promotion that has not
// ended. Without regard to case, it claims their keys too, and of codes with the same key only the first.
func claim(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []string, match Match) (claimed map[string]bool, err error) {
	if !match.ignoreCase {
		return claimTexts(ctx, t, p, codes)
	}
	byKey := make(map[string]string, len(codes))
	for _, code := range codes {
		if key := Key(code); byKey[key] == "" {
			byKey[key] = code
		}
	}
	keys, err := claimTexts(ctx, t, p, slices.Sorted(maps.Keys(byKey)))
	if err != nil {
		return nil, err
	}
	claimed = make(map[string]bool, len(codes))
	var cased []string // codes that are not their own key, and claim a second text
	for key := range keys {
		if code := byKey[key]; code == key {
			claimed[code] = true
		} else {
			cased = append(cased, code)
		}
	}
	texts, err := claimTexts(ctx, t, p, slices.Sorted(slices.Values(cased)))
	var useless []string // keys of codes that another promotion holds as they are written
	for _, code := range cased {
		if texts[code] {
			claimed[code] = true
		} else {
			useless = append(useless, Key(code))
		}
	}
	if err == nil && len(useless) > 0 {
		err = deleteKeyClaims(ctx, t, p.Number, p.Epoch, useless)
	}
	return claimed, err
}

// claimTexts claims texts, which must be sorted and distinct, and returns those that the promotion now
// holds. A promotion has ended when both clocks say so (Tx.SafeNow).
func claimTexts(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []string) (claimed map[string]bool, err error) {
	claimed = make(map[string]bool, len(codes))
	err = store.InBlocks(codes, 512, func(codes []string) error {
		args := []any{p.Number, p.Epoch, store.Micros(t.Now)}
		places := make([]string, len(codes))
		for i, code := range codes {
			args = append(args, code)
			places[i] = fmt.Sprintf("($%d, CAST($1 AS BIGINT), CAST($2 AS BIGINT))", len(args))
		}
		got, err := db.Collect(ctx, t.Session, db.Scalar[string], `
			INSERT INTO code_claim (code, promotion_number, epoch) VALUES `+strings.Join(places, ", ")+`
			ON CONFLICT (code) DO UPDATE SET promotion_number = excluded.promotion_number, epoch = excluded.epoch
			WHERE NOT EXISTS (
			    SELECT 1 FROM promotion
			    WHERE promotion.number = code_claim.promotion_number AND promotion.epoch = code_claim.epoch
			      AND promotion.end_at > `+t.EarlierSQL(`CAST($3 AS BIGINT)`)+`)
			RETURNING code`, args...)
		for _, code := range got {
			claimed[code] = true
		}
		return err
	})
	return claimed, err
}

// errTaken is returned if another promotion holds one of the codes.
var errTaken = errors.New("a code is taken")

var (
	claimInsert   = db.NewInserter("code_claim", []string{"code", "promotion_number", "epoch"}, " ON CONFLICT (code) DO NOTHING")
	newCodeInsert = db.NewInserter("promotion_code", codeColumnNames, "")
)

// claimNew claims codes that probably nobody has or had, at half the cost of claim. After
// errTaken the write must be rolled back.
func claimNew(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []string, match Match) error {
	codes = match.claims(codes)
	claimed, err := t.Insert(ctx, claimInsert, len(codes), func(values []any, n int) []any { return append(values, codes[n], p.Number, p.Epoch) })
	if err == nil && int(claimed) < len(codes) {
		err = errTaken
	}
	return err
}

// heldCode is a code that a promotion holds, as it is written.
type heldCode struct {
	EpochKey
	code string // empty if no code has the claimed key
}

// heldCodes returns which codes keep some codes from being claimed, and their promotions, by Match.Key.
func heldCodes(ctx context.Context, t *db.Tx, codes []string, match Match) (map[string]heldCode, error) {
	held := map[string]heldCode{}
	keys := make([]string, len(codes))
	for i, code := range codes {
		keys[i] = match.Key(code)
	}
	claims, err := db.CollectIn(ctx, t.Session, func(rows *sql.Rows) (c heldCode, err error) {
		return c, rows.Scan(&c.code, &c.Number, &c.Epoch)
	}, keys, `SELECT code, promotion_number, epoch FROM code_claim WHERE code IN ($in)`)
	for _, c := range claims {
		held[c.code] = c
	}
	if err != nil || !match.ignoreCase {
		return held, err
	}
	for key, c := range held { // a claimed key is no code, unless one is written so
		held[key] = heldCode{c.EpochKey, ""}
	}
	written, err := codesOfKeys(ctx, t.Session, keys)
	for key, codes := range written {
		held[key] = heldCode{held[key].EpochKey, codes[0]}
	}
	return held, err
}

// codesOfKeys returns, by key, the codes that have it and are of the promotion that claims it.
func codesOfKeys(ctx context.Context, in db.Session, keys []string) (map[string][]string, error) {
	claims, err := db.CollectIn(ctx, in, func(rows *sql.Rows) (p db.Pair[string, EpochKey], err error) {
		return p, rows.Scan(&p.Key, &p.Value.Number, &p.Value.Epoch)
	}, keys, `SELECT code, promotion_number, epoch FROM code_claim WHERE code IN ($in)`)
	if err != nil {
		return nil, err
	}
	holders, found := db.PairMap(claims), map[string][]string{}
	for _, column := range []string{"code", "code_key"} {
		codes, err := db.CollectIn(ctx, in, func(rows *sql.Rows) (p db.Pair[string, EpochKey], err error) {
			return p, rows.Scan(&p.Key, &p.Value.Number, &p.Value.Epoch)
		}, keys, `SELECT code, promotion_number, epoch FROM promotion_code WHERE `+column+` IN ($in)`)
		if err != nil {
			return nil, err
		}
		for _, c := range codes {
			if key := Key(c.Key); holders[key] == c.Value {
				found[key] = append(found[key], c.Key)
			}
		}
	}
	return found, nil
}

// codeColumnNames are the columns of a new code; storedKey returns the last.
var codeColumnNames = []string{"promotion_number", "epoch", "code", "id", "max_uses", "used", "consume_unit", "users", "created_at", "code_key"}

// AddAutomatic creates the code of an automatic promotion. The code has no creation time if the
// promotion has none.
func AddAutomatic(ctx context.Context, t *db.Tx, p *rule.Promotion) error {
	code := p.AutomaticCode()
	ended, err := p.Ended(ctx, t)
	if err != nil {
		return err
	}
	if !ended {
		match, err := readCase(ctx, t)
		if err != nil {
			return err
		}
		claimed, err := claim(ctx, t, p, []string{code}, match)
		if err != nil {
			return err
		}
		if !claimed[code] {
			held, err := heldCodes(ctx, t, []string{code}, match)
			if err != nil {
				return err
			}
			if holder := held[match.Key(code)]; holder.Number != p.Number || holder.code != code {
				e := duplicateCode(code)
				e.Documented, e.Path, e.Detail = false, []string{"automatic"}, fmt.Sprintf("requires the code %q, which another promotion has. Delete it there first.", code)
				if holder.code != code && holder.code != "" {
					e.Detail = fmt.Sprintf("requires the code %q, but a promotion has %q: %s", code, store.Abbreviate(holder.code), wayOut)
				}
				return e
			}
		}
	}
	created := int64(0)
	if !p.UpdatedAt.IsZero() {
		created = store.Micros(t.Now)
	}
	fresh, err := t.Exec(ctx, db.InsertSQL("promotion_code", codeColumnNames, 1)+` ON CONFLICT (promotion_number, epoch, code) DO NOTHING`,
		p.Number, p.Epoch, code, store.NewID(), nil, 0, string(PerCart), "", created, storedKey(code))
	if err != nil {
		return err
	}
	return CountChanges{EpochKey{p.Number, p.Epoch}: int(fresh)}.Add(ctx, t)
}
