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

// dated is a resource whose line may leave out when it was created, and the table that stores it.
type dated interface {
	authoring.Source

	// dated returns the table, and the member of the source, which is empty if the line leaves it out.
	dated() (table string, createdAt *string)
}

func (n *NodeSource) dated() (string, *string)      { return "node", &n.Attributes.CreatedAt }
func (h *hierarchySource) dated() (string, *string) { return "hierarchy", &h.Attributes.CreatedAt }
func (c *CatalogSource) dated() (string, *string)   { return "catalog", &c.Attributes.CreatedAt }
func (r *RuleSource) dated() (string, *string)      { return "catalog_rule", &r.Attributes.CreatedAt }

// timeOf returns a time of a source in microseconds.
func timeOf(text string) int64 { return store.Micros(store.StoredTime(text)) }

// SetTimes sets the times that lines leave out. A stored resource keeps its time of creation, and a new one
// was created now. A product was last changed now unless it is unchanged, and a new one when it was created.
func SetTimes(ctx context.Context, in db.Session, now time.Time, sources []authoring.Source) error {
	undated := map[string][]dated{} // by table
	for _, source := range sources {
		if s, is := source.(dated); is {
			if table, createdAt := s.dated(); *createdAt == "" {
				undated[table] = append(undated[table], s)
			}
		}
	}
	for table, list := range undated {
		ids := make([]string, len(list))
		for i, s := range list {
			ids[i] = s.Key()
		}
		rows, err := db.CollectIn(ctx, in, db.ScanPair[string, int64], store.Unique(ids), `SELECT id, created_at FROM `+table+` WHERE id IN ($in)`)
		if err != nil {
			return err
		}
		stored := db.PairMap(rows)
		for _, s := range list {
			_, createdAt := s.dated()
			at, known := stored[s.Key()]
			if !known {
				at = store.Micros(now)
			}
			*createdAt = store.FormatTime(store.FromMicros(at))
		}
	}
	return setProductTimes(ctx, in, now, sources)
}

// setProductTimes is SetTimes for products.
func setProductTimes(ctx context.Context, in db.Session, now time.Time, sources []authoring.Source) error {
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
		return nil
	}
	a.UpdatedAt = stored.Attributes.UpdatedAt // as the comparison needs
	if !bytes.Equal(body, store.Encode(p)) {
		a.UpdatedAt = now
	}
	return nil
}
