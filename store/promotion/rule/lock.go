package rule

import (
	"context"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// LockPromotion reads and locks a promotion, which also keeps its codes from being added to. It
// returns NOT_FOUND at member if there is none.
func LockPromotion(ctx context.Context, t *db.Tx, member, id string) (*Promotion, error) {
	unknown := store.NotFoundf([]string{member}, "does not exist: %q", store.Abbreviate(id))
	if !store.IsID(id) {
		return nil, unknown
	}
	byID, err := LockPromotions(ctx, t, []string{id})
	if err == nil && byID[id] == nil {
		err = unknown
	}
	return byID[id], err
}

// LockPromotions reads and locks promotions in the order of their ids, since writes that lock in
// different orders deadlock.
func LockPromotions(ctx context.Context, t *db.Tx, ids []string) (map[string]*Promotion, error) {
	return promotionsByID(db.CollectIn(ctx, t.Session, ScanPromotion(t.Now), slices.Sorted(slices.Values(ids)), `
		SELECT `+PromotionColumns+` FROM promotion WHERE id IN ($in) ORDER BY id`+t.ForUpdate("promotion")))
}

// Ended reports whether the promotion has ended, so that other promotions may claim its codes. It
// asks both the clock of this program and, if that says yes, the database's.
func (p *Promotion) Ended(ctx context.Context, t *db.Tx) (bool, error) {
	if p.End.After(t.Now) {
		return false, nil
	}
	now, err := t.SafeNow(ctx)
	return err == nil && !p.End.After(now), err
}

// LockSources locks the promotions of sources. If one was deleted after the file was checked, it
// returns the error of the first line that names it.
func LockSources(ctx context.Context, w *authoring.Writer, sources []authoring.Source, id func(authoring.Source) string) (map[string]*Promotion, error) {
	ids := make([]string, len(sources))
	for i, resource := range sources {
		ids[i] = id(resource)
	}
	promotions, err := LockPromotions(ctx, w.Tx, store.Unique(ids))
	for i, resource := range sources {
		if err == nil && promotions[ids[i]] == nil {
			err = &authoring.RowError{Source: resource, Err: store.Unprocessablef([]string{"promotion_id"}, "refers to the promotion %q, which was deleted meanwhile", ids[i])}
		}
	}
	return promotions, err
}
