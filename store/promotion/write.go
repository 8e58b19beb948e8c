package promotion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/index"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/promotion/rule"
)

// CreatePromotion makes a promotion; an empty id is a new one. INVALID and
// UNPROCESSABLE name each member that is wrong.
func (s *PromotionService) CreatePromotion(ctx context.Context, actor store.Actor, id string, change PromotionChange) (*rule.Promotion, error) {
	if err := change.check(); err != nil {
		return nil, err
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*rule.Promotion, error) {
		w, number, err := s.beginPromotion(ctx, t)
		if err != nil {
			return nil, err
		}
		source := &rule.Source{Type: "promotion", ID: authoring.OrNewID(&id), CreatedAt: store.FormatTime(w.Now), UpdatedAt: store.FormatTime(w.Now)}
		moved := change.apply(source)
		if faults := promotionFaults(source); len(faults) > 0 {
			return nil, asSent(faults, moved)
		}
		had, err := rule.LockPromotions(ctx, w.Tx, []string{source.ID})
		if err != nil {
			return nil, err
		}
		if had[source.ID] != nil {
			return nil, store.Unprocessablef([]string{"id"}, "is taken: %q; leave it out for a new one", source.ID)
		}
		deleted, err := code.FindArchived(ctx, w.Session, []string{source.ID})
		if err != nil {
			return nil, err
		}
		if _, kept := deleted[source.ID]; kept {
			return nil, store.Unprocessablef([]string{"id"}, "is the id of a deleted promotion whose usages are kept: %q; leave it out for a new one", source.ID)
		}
		if _, err := putPromotion(ctx, w, nil, source, number); err != nil {
			return nil, err
		}
		return readPromotion(ctx, w.Tx, source.ID)
	})
}

// PromotionUpdate is what an update came to.
type PromotionUpdate struct {
	Promotion    *rule.Promotion // as it is, or would be
	CodesDeleted int             // codes that went with it, or would go
}

// UpdatePromotion changes a promotion. One that has ended and gets an end in
// the future loses all its codes at once (DESIGN 5); one that is automatic no
// more loses its automatic code. dryRun changes nothing and tells what would
// happen. NOT_FOUND when there is none; INVALID and UNPROCESSABLE as for a
// new one.
func (s *PromotionService) UpdatePromotion(ctx context.Context, actor store.Actor, id string, change PromotionChange, dryRun bool) (*PromotionUpdate, error) {
	if err := change.applyNulls(); err != nil {
		return nil, err
	}
	if err := change.check(); err != nil {
		return nil, err
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*PromotionUpdate, error) {
		w, _, err := s.beginPromotion(ctx, t)
		if err != nil {
			return nil, err
		}
		had, err := rule.LockPromotion(ctx, w.Tx, "id", id)
		if err != nil {
			return nil, err
		}
		source, stood := &rule.Source{}, &rule.Source{}
		if err := errors.Join(json.Unmarshal(had.Body, source), json.Unmarshal(had.Body, stood)); err != nil {
			return nil, err
		}
		moved := change.apply(source)
		if faults := newFaults(promotionFaults(source), promotionFaults(stood)); len(faults) > 0 {
			return nil, asSent(faults, moved)
		}
		gone, err := codesLost(ctx, w.Tx, had, source)
		if err != nil {
			return nil, err
		}
		result := &PromotionUpdate{CodesDeleted: gone}
		if dryRun {
			result.Promotion = rule.NewPromotion(source, w.Now)
			result.Promotion.CreatedAt, result.Promotion.UpdatedAt = had.CreatedAt, had.UpdatedAt
			return result, nil
		}
		if !bytes.Equal(store.Encode(source), had.Body) {
			source.UpdatedAt = store.FormatTime(w.Now)
		}
		if _, err := putPromotion(ctx, w, had, source, had.Number); err != nil {
			return nil, err
		}
		result.Promotion, err = readPromotion(ctx, w.Tx, had.ID)
		return result, err
	})
}

// PromotionDeletion is what a deletion does, or with dryRun would do.
type PromotionDeletion struct {
	CodesDeleted int
	UsagesKept   int // usages that can still be listed and released
}

// DeletePromotion deletes a promotion and its codes, which other promotions may
// claim from then on. Its usages stay for their retention: they can be listed by
// its id, and redemptions can be released. dryRun changes nothing and returns
// what would happen. NOT_FOUND when there is none.
func (s *PromotionService) DeletePromotion(ctx context.Context, actor store.Actor, id string, dryRun bool) (PromotionDeletion, error) {
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (done PromotionDeletion, err error) {
		w, _, err := s.beginPromotion(ctx, t)
		if err != nil {
			return done, err
		}
		had, err := rule.LockPromotion(ctx, w.Tx, "id", id)
		if err != nil {
			return done, err
		}
		done.CodesDeleted, _, err = db.One(ctx, w.Session, db.Scalar[int], code.CountSQL, had.Number, had.Epoch)
		if err != nil {
			return done, err
		}
		done.UsagesKept, _, err = db.One(ctx, w.Session, db.Scalar[int], redeem.UsageCountSQL, had.Number)
		if err != nil || dryRun {
			return done, err
		}
		return done, code.Archive(ctx, w.Tx, had)
	})
}

// beginPromotion begins a write of a promotion, of which there is one at a
// time; number is for a new one.
func (s *PromotionService) beginPromotion(ctx context.Context, t *db.Tx) (w *authoring.Writer, number int64, err error) {
	number, err = t.Sequence(ctx, 1)
	return &authoring.Writer{Tx: t, DB: s.db}, number, err
}

// promotionFaults are what is wrong with a promotion, members named as the
// inputs have them.
func promotionFaults(source *rule.Source) store.Errors {
	f := &authoring.Validator{}
	source.Check(f)
	source.CheckMaximum(f)
	for i, fault := range f.Errors {
		if fault.Path[0] != "schema" { // which is JSON of the shop's own
			f.Errors[i] = authoring.AsInput(fault)
		}
	}
	return f.Errors
}

// newFaults are those that did not stand before: what was written when less
// was asked for keeps nobody from changing something else.
func newFaults(faults, stood store.Errors) store.Errors {
	return slices.DeleteFunc(faults, func(fault *store.Error) bool {
		return slices.ContainsFunc(stood, func(old *store.Error) bool { return slices.Equal(old.Path, fault.Path) && old.Detail == fault.Detail })
	})
}

func readPromotion(ctx context.Context, t *db.Tx, id string) (*rule.Promotion, error) {
	byID, err := rule.ReadPromotions(ctx, t.Session, t.Now, []string{id})
	return byID[id], err
}

// reenables tells whether a change turns a promotion that has ended into one
// that has not.
func reenables(ctx context.Context, t *db.Tx, had *rule.Promotion, source *rule.Source) (bool, error) {
	if had == nil || !store.StoredTime(source.End).After(t.Now) {
		return false, nil
	}
	return had.Ended(ctx, t)
}

// codesLost is how many codes go with a change.
func codesLost(ctx context.Context, t *db.Tx, had *rule.Promotion, source *rule.Source) (n int, err error) {
	again, err := reenables(ctx, t, had, source)
	if err != nil {
		return 0, err
	}
	if again {
		n, _, err = db.One(ctx, t.Session, db.Scalar[int], code.CountSQL, had.Number, had.Epoch)
		return n, err
	}
	if had.Automatic && !source.Automatic {
		return 1, nil
	}
	return 0, nil
}

// putPromotion writes a checked source over the promotion that was read and
// locked, nil for a new one, with what follows for its codes. It tells
// whether anything was different.
func putPromotion(ctx context.Context, w *authoring.Writer, had *rule.Promotion, source *rule.Source, number int64) (bool, error) {
	created := w.Now
	if had != nil {
		number, created = had.Number, had.CreatedAt
		source.Epoch = max(source.Epoch, int(had.Epoch))
		again, err := reenables(ctx, w.Tx, had, source)
		if err != nil {
			return false, err
		}
		if again {
			source.Epoch = max(source.Epoch, int(had.Epoch)+1)
		}
	}
	body := store.Encode(source)
	if had != nil && bytes.Equal(body, had.Body) {
		return false, nil
	}
	if source.CreatedAt != "" {
		created = store.StoredTime(source.CreatedAt)
	}
	_, err := w.Exec(ctx, `
		INSERT INTO promotion (id, number, epoch, name, name_key, name_folded, promotion_type, enabled, automatic,
		                       start_at, end_at, created_at, updated_at, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (id) DO UPDATE
		SET codes = CASE WHEN promotion.epoch = excluded.epoch THEN promotion.codes ELSE 0 END, epoch = excluded.epoch, name = excluded.name, name_key = excluded.name_key, name_folded = excluded.name_folded,
		    promotion_type = excluded.promotion_type, enabled = excluded.enabled, automatic = excluded.automatic,
		    start_at = excluded.start_at, end_at = excluded.end_at, created_at = excluded.created_at,
		    updated_at = excluded.updated_at, body = excluded.body`,
		source.ID, number, source.Epoch, source.Name, nameKey(source.Name), index.Fold(source.Name), source.PromotionType, source.Enabled, source.Automatic,
		store.Micros(store.StoredTime(source.Start)), store.Micros(store.StoredTime(source.End)), store.Micros(created), authoring.CreatedAt(source.UpdatedAt, w.Tx), string(body))
	if err != nil {
		return false, err
	}
	p := rule.NewPromotion(source, w.Now)
	p.Number = number
	if source.UpdatedAt != "" {
		p.UpdatedAt = w.Now
	}
	return true, keepCodes(ctx, w, had, p)
}

// keepCodes does to a promotion's codes what follows from its change.
func keepCodes(ctx context.Context, w *authoring.Writer, had, p *rule.Promotion) error {
	raised := had != nil && had.Epoch != p.Epoch
	if raised {
		if err := code.SchedulePurge(ctx, w.Tx, had); err != nil {
			return err
		}
	}
	was := had != nil && had.Automatic && !raised
	switch {
	case p.Automatic && !was:
		return code.AddAutomatic(ctx, w.Tx, p)
	case !p.Automatic && was:
		return code.Delete(ctx, w.Tx, p.Number, p.Epoch, []string{p.AutomaticCode()})
	}
	return nil
}
