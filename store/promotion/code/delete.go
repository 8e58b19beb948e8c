package code

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// Delete deletes codes of a promotion, all or none, and returns how many. It
// returns NOT_FOUND for an unknown promotion and for each code it does not have, and
// UNPROCESSABLE for the code of an automatic promotion.
func (s *Service) Delete(ctx context.Context, actor store.Actor, promotionID string, codes []string) (deleted int, err error) {
	if len(codes) == 0 || len(codes) > MaxCodesPerRequest {
		return 0, store.Unprocessablef([]string{"codes"}, "must name between 1 and %d codes, got %d", MaxCodesPerRequest, len(codes))
	}
	m, err := MatchOf(ctx, s.db)
	if err != nil {
		return 0, err
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (deleted int, err error) {
		p, err := rule.LockPromotion(ctx, t, "promotion_id", promotionID)
		if err != nil {
			return 0, err
		}
		known, err := m.lock(ctx, t, p, codes)
		if err != nil {
			return 0, err
		}
		var faulty store.Errors
		for i, code := range codes {
			at := []string{"codes", strconv.Itoa(i)}
			switch {
			case p.Automatic && m.Key(code) == m.Key(p.AutomaticCode()):
				faulty = append(faulty, store.Unprocessablef(at, "must not be the code of an automatic promotion. Set automatic to false to delete it."))
			case known[code] == "":
				faulty = append(faulty, store.NotFoundf(at, "is not a code of the promotion: %q", store.Abbreviate(code)))
			}
		}
		if err := store.BatchError(faulty); err != nil {
			return 0, err
		}
		written := store.Unique(slices.Collect(maps.Values(known)))
		recordCodes(t, p.ID, store.AuditDeleted, len(written))
		return len(written), Delete(ctx, t, p.Number, p.Epoch, written)
	})
}

// lock locks the codes that match texts, and returns them by the text. Of several codes, which only a promotion
// that has ended can have, it prefers the text itself.
func (m Match) lock(ctx context.Context, t *db.Tx, p *rule.Promotion, texts []string) (map[string]string, error) {
	spellings, err := m.Spellings(ctx, t.Session, texts)
	if err != nil {
		return nil, err
	}
	locked, err := lockCodes(ctx, t, p, spellings)
	byKey, found := map[string]string{}, map[string]string{}
	for code := range locked {
		if key := m.Key(code); byKey[key] == "" || code < byKey[key] {
			byKey[key] = code
		}
	}
	for _, text := range texts {
		switch other := byKey[m.Key(text)]; {
		case locked[text]:
			found[text] = text
		case other != "":
			found[text] = other
		}
	}
	return found, err
}

// lockCodes returns which of the codes a promotion has. It locks them in order, since writes that
// lock in different orders deadlock (redemption.lock).
func lockCodes(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []string) (map[string]bool, error) {
	codes = slices.DeleteFunc(store.Unique(codes), func(code string) bool { return !store.IsStorableText(code) })
	slices.Sort(codes)
	found, err := db.CollectIn(ctx, t.Session, db.Scalar[string], codes,
		`SELECT code FROM promotion_code WHERE promotion_number = $1 AND epoch = $2 AND code IN ($in)
		ORDER BY code`+t.ForUpdate("promotion_code"), p.Number, p.Epoch)
	return store.SetOf(found), err
}

// Delete deletes codes of a promotion's epoch, with their claims.
func Delete(ctx context.Context, t *db.Tx, number, epoch int64, codes []string) error {
	gone, err := deleteCodes(ctx, t, number, epoch, codes)
	if err != nil {
		return err
	}
	return CountChanges{EpochKey{number, epoch}: -gone}.Add(ctx, t)
}

// deleteCodes is Delete without the promotion's count, for epochs that are not counted. It
// returns how many codes existed.
func deleteCodes(ctx context.Context, t *db.Tx, number, epoch int64, codes []string) (gone int, err error) {
	codes = slices.Sorted(slices.Values(codes))
	err = store.Chunked(codes, 512, func(codes []string) error {
		list, args := db.InList([]any{number, epoch}, codes)
		for _, table := range []string{"code_claim", "promotion_code"} {
			n, err := t.Exec(ctx, `DELETE FROM `+table+` WHERE promotion_number = $1 AND epoch = $2 AND code IN (`+list+`)`, args...)
			if err != nil {
				return err
			}
			if table == "promotion_code" {
				gone += int(n)
			}
		}
		// Keys that codes claimed in addition, without regard to case.
		keys := slices.DeleteFunc(Match{ignoreCase: true}.claims(codes), func(text string) bool { _, deleted := slices.BinarySearch(codes, text); return deleted })
		return deleteKeyClaims(ctx, t, number, epoch, keys)
	})
	return gone, err
}
