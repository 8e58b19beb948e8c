package rule

import (
	"context"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// lockPromotion reads a promotion and keeps it from changing, and its codes
// from being added to, until the transaction ends; NOT_FOUND of the member
// that names it when there is none.
func LockPromotion(ctx context.Context, t *db.Tx, member, id string) (*Promotion, error) {
	unknown := store.NotFoundf([]string{member}, "names no promotion: %q", store.Abbreviate(id))
	if !store.IsID(id) {
		return nil, unknown
	}
	byID, err := LockPromotions(ctx, t, []string{id})
	if err == nil && byID[id] == nil {
		err = unknown
	}
	return byID[id], err
}

// lockPromotions locks promotions in the order of their ids, or two writes
// deadlock.
func LockPromotions(ctx context.Context, t *db.Tx, ids []string) (map[string]*Promotion, error) {
	return promotionsByID(db.CollectIn(ctx, t.Session, ScanPromotion(t.Now), slices.Sorted(slices.Values(ids)), `
		SELECT `+PromotionColumns+` FROM promotion WHERE id IN ($in) ORDER BY id`+t.ForUpdate("promotion")))
}

// ended tells whether a promotion has ended, so that its codes may go to
// others: by the program's clock, and then by the database's too.
func (p *Promotion) Ended(ctx context.Context, t *db.Tx) (bool, error) {
	if p.End.After(t.Now) {
		return false, nil
	}
	now, err := t.SafeNow(ctx)
	return err == nil && !p.End.After(now), err
}

// lockPromotionsOf locks the promotions that sources are of; one that somebody
// deleted since the file was checked is its line's fault.
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
