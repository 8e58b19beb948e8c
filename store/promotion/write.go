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

// Create creates a promotion; an empty id means a new one. INVALID and UNPROCESSABLE
// name each wrong member.
func (s *Service) Create(ctx context.Context, actor store.Actor, id string, change Change) (*rule.Promotion, error) {
	change, err := change.expand(false)
	if err != nil {
		return nil, err
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*rule.Promotion, error) {
		w, number, err := s.startWrite(ctx, t)
		if err != nil {
			return nil, err
		}
		source := &rule.Source{Type: "promotion", ID: authoring.OrNewID(&id), CreatedAt: store.FormatTime(w.Now), UpdatedAt: store.FormatTime(w.Now)}
		moved := change.apply(source)
		if errs := checkPromotion(source); len(errs) > 0 {
			return nil, change.toSentPaths(errs, moved)
		}
		existing, err := rule.LockPromotions(ctx, w.Tx, []string{source.ID})
		if err != nil {
			return nil, err
		}
		if existing[source.ID] != nil {
			return nil, store.AlreadyExistsf([]string{"id"}, "is already used: %q; omit it to generate one", source.ID)
		}
		deleted, err := code.FindArchived(ctx, w.Session, []string{source.ID})
		if err != nil {
			return nil, err
		}
		if _, kept := deleted[source.ID]; kept {
			return nil, store.AlreadyExistsf([]string{"id"}, "is already used by a deleted promotion that has usages: %q; omit it to generate one", source.ID)
		}
		if err := upsertRecorded(ctx, w, nil, source, number); err != nil {
			return nil, err
		}
		return readPromotion(ctx, w.Tx, source.ID)
	})
}

// Update is the result of an update.
type Update struct {
	Promotion    *rule.Promotion // with dryRun as it would be
	CodesDeleted int             // codes that the update deletes
}

// Update changes a promotion. A promotion that has ended loses all its codes if its new
// end is in the future, and any that becomes automatic loses them. One that stops being automatic loses
// its automatic code. dryRun changes
// nothing and returns what would happen. It returns NOT_FOUND if there is none, and INVALID and
// UNPROCESSABLE as Create does.
func (s *Service) Update(ctx context.Context, actor store.Actor, id string, change Change, dryRun bool) (*Update, error) {
	change, err := change.expand(true)
	if err != nil {
		return nil, err
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Update, error) {
		w, _, err := s.startWrite(ctx, t)
		if err != nil {
			return nil, err
		}
		existing, err := rule.LockPromotion(ctx, w.Tx, "id", id)
		if err != nil {
			return nil, err
		}
		source, before := &rule.Source{}, &rule.Source{}
		if err := errors.Join(json.Unmarshal(existing.Body, source), json.Unmarshal(existing.Body, before)); err != nil {
			return nil, err
		}
		moved := change.apply(source)
		if errs := newErrors(checkPromotion(source), checkPromotion(before)); len(errs) > 0 {
			return nil, change.toSentPaths(errs, moved)
		}
		deleted, err := countDeletedCodes(ctx, w.Tx, existing, source)
		if err != nil {
			return nil, err
		}
		result := &Update{CodesDeleted: deleted}
		if dryRun {
			result.Promotion = rule.NewPromotion(source, w.Now)
			result.Promotion.CreatedAt, result.Promotion.UpdatedAt = existing.CreatedAt, existing.UpdatedAt
			return result, nil
		}
		if !bytes.Equal(store.Encode(source), existing.Body) {
			source.UpdatedAt = store.FormatTime(w.Now)
		}
		if err := upsertRecorded(ctx, w, existing, source, existing.Number); err != nil {
			return nil, err
		}
		result.Promotion, err = readPromotion(ctx, w.Tx, existing.ID)
		return result, err
	})
}

// Deletion is the result of a deletion.
type Deletion struct {
	CodesDeleted int
	UsagesKept   int // usages that can still be listed and released
}

// Delete deletes a promotion and its codes, which other promotions may
// claim from then on. Its usages stay for their retention: they can be listed by
// its id, and redemptions can be released. dryRun changes nothing and returns
// what would happen. NOT_FOUND when there is none.
func (s *Service) Delete(ctx context.Context, actor store.Actor, id string, dryRun bool) (Deletion, error) {
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (done Deletion, err error) {
		w, _, err := s.startWrite(ctx, t)
		if err != nil {
			return done, err
		}
		existing, err := rule.LockPromotion(ctx, w.Tx, "id", id)
		if err != nil {
			return done, err
		}
		done.CodesDeleted, _, err = db.One(ctx, w.Session, db.Scalar[int], code.CountSQL, existing.Number, existing.Epoch)
		if err != nil {
			return done, err
		}
		done.UsagesKept, _, err = db.One(ctx, w.Session, db.Scalar[int], redeem.UsageCountSQL, existing.Number)
		if err != nil || dryRun {
			return done, err
		}
		return done, w.Recorded(ctx, Kind, existing.ID, func() error { return code.Archive(ctx, w.Tx, existing) })
	})
}

// startWrite begins a write of promotions, which run one at a time. number is for a new promotion.
func (s *Service) startWrite(ctx context.Context, t *db.Tx) (w *authoring.Writer, number int64, err error) {
	number, err = t.Sequence(ctx, 1)
	return &authoring.Writer{Tx: t, DB: s.db}, number, err
}

// checkPromotion returns the errors of a promotion, with the member names of inputs.
func checkPromotion(source *rule.Source) store.Errors {
	f := &authoring.Validator{}
	source.Check(f)
	source.CheckMaximum(f)
	return f.Errors
}

// newErrors returns the errors that are not in old. A promotion that was written under older
// rules can still be changed.
func newErrors(errs, old store.Errors) store.Errors {
	return slices.DeleteFunc(errs, func(e *store.Error) bool {
		return slices.ContainsFunc(old, func(o *store.Error) bool { return slices.Equal(o.Path, e.Path) && o.Detail == e.Detail })
	})
}

// readPromotion returns a promotion as this write left it.
func readPromotion(ctx context.Context, t *db.Tx, id string) (*rule.Promotion, error) {
	byID, err := rule.ReadPromotions(ctx, t.Session, t.Now, []string{id})
	return byID[id], err
}

// losesCodes reports whether a change deletes all codes of a promotion: it gives one that has ended a new end in the
// future, or makes one with codes automatic.
func losesCodes(ctx context.Context, t *db.Tx, existing *rule.Promotion, source *rule.Source) (bool, error) {
	switch {
	case existing == nil:
		return false, nil
	case source.Automatic && !existing.Automatic:
		n, _, err := db.One(ctx, t.Session, db.Scalar[int], code.CountSQL, existing.Number, existing.Epoch)
		return n > 0, err
	case !store.StoredTime(source.End).After(t.Now):
		return false, nil
	}
	return existing.Ended(ctx, t)
}

// countDeletedCodes returns how many codes a change deletes.
func countDeletedCodes(ctx context.Context, t *db.Tx, existing *rule.Promotion, source *rule.Source) (n int, err error) {
	all, err := losesCodes(ctx, t, existing, source)
	if err != nil {
		return 0, err
	}
	if all {
		n, _, err = db.One(ctx, t.Session, db.Scalar[int], code.CountSQL, existing.Number, existing.Epoch)
		return n, err
	}
	if existing.Automatic && !source.Automatic {
		return 1, nil
	}
	return 0, nil
}

// upsertRecorded is upsertPromotion, and records what changed.
func upsertRecorded(ctx context.Context, w *authoring.Writer, existing *rule.Promotion, source *rule.Source, number int64) error {
	return w.Recorded(ctx, Kind, source.ID, func() error {
		_, err := upsertPromotion(ctx, w, existing, source, number)
		return err
	})
}

// upsertPromotion writes a checked source, and creates and deletes codes as the change requires.
// existing is the locked promotion, nil for a new one. It reports whether anything changed.
func upsertPromotion(ctx context.Context, w *authoring.Writer, existing *rule.Promotion, source *rule.Source, number int64) (bool, error) {
	created := w.Now
	if existing != nil {
		number, created = existing.Number, existing.CreatedAt
		source.Epoch = max(source.Epoch, int(existing.Epoch))
		all, err := losesCodes(ctx, w.Tx, existing, source)
		if err != nil {
			return false, err
		}
		if all {
			source.Epoch = max(source.Epoch, int(existing.Epoch)+1)
		}
	}
	body := store.Encode(source)
	if existing != nil && bytes.Equal(body, existing.Body) {
		return false, nil
	}
	if source.CreatedAt != "" {
		created = store.StoredTime(source.CreatedAt)
	}
	updated := w.Now
	if source.UpdatedAt != "" {
		updated = store.StoredTime(source.UpdatedAt)
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
		source.ID, number, source.Epoch, source.Name, index.SortKey(source.Name), index.Fold(source.Name), source.PromotionType, source.Enabled, source.Automatic,
		store.Micros(store.StoredTime(source.Start)), store.Micros(store.StoredTime(source.End)), store.Micros(created), store.Micros(updated), string(body))
	if err != nil {
		return false, err
	}
	p := rule.NewPromotion(source, w.Now)
	p.Number = number
	if source.UpdatedAt != "" {
		p.UpdatedAt = w.Now // a promotion without times gets a code without them
	}
	return true, updateCodes(ctx, w, existing, p)
}

// updateCodes deletes the codes of a former epoch, and creates or deletes the automatic code. existing is nil for a new promotion.
func updateCodes(ctx context.Context, w *authoring.Writer, existing, p *rule.Promotion) error {
	newEpoch := existing != nil && existing.Epoch != p.Epoch
	if newEpoch {
		if err := code.SchedulePurge(ctx, w.Tx, existing); err != nil {
			return err
		}
	}
	wasAutomatic := existing != nil && existing.Automatic && !newEpoch
	switch {
	case p.Automatic && !wasAutomatic:
		return code.AddAutomatic(ctx, w.Tx, p)
	case !p.Automatic && wasAutomatic:
		return code.Delete(ctx, w.Tx, p.Number, p.Epoch, []string{p.AutomaticCode()})
	}
	return nil
}
