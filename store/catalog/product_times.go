package catalog

import (
	"bytes"
	"cmp"
	"context"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// SetProductTimes sets the times that lines of products leave out. A stored product keeps its time of
// creation, and its last change is now unless it is unchanged. A new product was created now, and last
// changed when it was created.
func SetProductTimes(ctx context.Context, in db.Session, now time.Time, sources []authoring.Source) error {
	untimed := map[string][]*ProductSource{}
	var ids []string
	for _, source := range sources {
		if p, isProduct := source.(*ProductSource); isProduct && (p.Attributes.CreatedAt == "" || p.Attributes.UpdatedAt == "") {
			untimed[p.ID], ids = append(untimed[p.ID], p), append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := db.CollectIn(ctx, in, db.ScanPair[string, []byte], store.Unique(ids), `SELECT id, body FROM product WHERE id IN ($in)`)
	if err != nil {
		return err
	}
	bodies := db.PairMap(rows)
	for id, list := range untimed {
		for _, p := range list {
			if err := p.setTimes(bodies[id], store.FormatTime(now)); err != nil {
				return err
			}
		}
	}
	return nil
}

// setTimes sets the times of a product that is stored as body, or not if that is nil.
func (p *ProductSource) setTimes(body []byte, now string) error {
	a := &p.Attributes
	stored := &ProductSource{}
	if body != nil {
		if err := store.Decode(body, stored); err != nil {
			return err
		}
	}
	a.CreatedAt = cmp.Or(a.CreatedAt, stored.Attributes.CreatedAt, now)
	if a.UpdatedAt != "" {
		return nil
	}
	if body == nil {
		a.UpdatedAt = a.CreatedAt
	} else if a.UpdatedAt = stored.Attributes.UpdatedAt; !bytes.Equal(body, store.Encode(p)) {
		a.UpdatedAt = now
	}
	return nil
}
