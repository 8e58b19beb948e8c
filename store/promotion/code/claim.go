package code

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// claim claims codes, which must be sorted and distinct, for a promotion that has not ended. It
// returns the codes that the promotion now holds; the others belong to a promotion that has not
// ended. A promotion has ended when both clocks say so (db.SafeNow).
func claim(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []string) (claimed map[string]bool, err error) {
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
	newCodeInsert = db.NewInserter("promotion_code", codeInsert, "")
)

// claimNew claims codes that probably nobody has or had, at half the cost of claim. After
// errTaken the write must be rolled back.
func claimNew(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []string) error {
	claimed, err := t.Insert(ctx, claimInsert, len(codes), func(values []any, n int) []any { return append(values, codes[n], p.Number, p.Epoch) })
	if err == nil && int(claimed) < len(codes) {
		err = errTaken
	}
	return err
}

// codeHolders returns the number of the promotion that claims each code.
func codeHolders(ctx context.Context, t *db.Tx, codes []string) (map[string]int64, error) {
	holders, err := db.CollectIn(ctx, t.Session, db.ScanPair[string, int64], codes, `SELECT code, promotion_number FROM code_claim WHERE code IN ($in)`)
	return db.PairMap(holders), err
}

var codeInsert = []string{"promotion_number", "epoch", "code", "id", "max_uses", "used", "consume_unit", "users", "created_at"}

// AddAutomatic creates the code of an automatic promotion. The code has no creation time if the
// promotion has none.
func AddAutomatic(ctx context.Context, t *db.Tx, p *rule.Promotion) error {
	code := p.AutomaticCode()
	ended, err := p.Ended(ctx, t)
	if err != nil {
		return err
	}
	if !ended {
		claimed, err := claim(ctx, t, p, []string{code})
		if err != nil {
			return err
		}
		if !claimed[code] {
			holders, err := codeHolders(ctx, t, []string{code})
			if err != nil {
				return err
			}
			if holders[code] != p.Number {
				e := duplicateCode()
				e.Documented, e.Path, e.Detail = false, []string{"automatic"}, fmt.Sprintf("requires the code %q, which another promotion has. Delete it there first.", code)
				return e
			}
		}
	}
	created := int64(0)
	if !p.UpdatedAt.IsZero() {
		created = store.Micros(t.Now)
	}
	fresh, err := t.Exec(ctx, db.InsertSQL("promotion_code", codeInsert, 1)+` ON CONFLICT (promotion_number, epoch, code) DO NOTHING`,
		p.Number, p.Epoch, code, store.NewID(), nil, 0, string(PerCart), "", created)
	if err != nil {
		return err
	}
	return CountChanges{EpochKey{p.Number, p.Epoch}: int(fresh)}.Add(ctx, t)
}
