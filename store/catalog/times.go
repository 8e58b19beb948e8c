package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// dated is a resource whose line may leave out when it was created, or last changed.
type dated interface {
	authoring.Source

	// dated returns the table, and the members of the source, which are empty if the line leaves them out. updatedAt is nil if the
	// type has none. stored is what the table stores of the source.
	dated() (table string, createdAt, updatedAt *string, stored any)
}

func (p *ProductSource) dated() (string, *string, *string, any) {
	return "product", &p.Attributes.CreatedAt, &p.Attributes.UpdatedAt, p
}

func (n *NodeSource) dated() (string, *string, *string, any) {
	return "node", &n.Attributes.CreatedAt, &n.Attributes.UpdatedAt, n.stored()
}

func (h *hierarchySource) dated() (string, *string, *string, any) {
	return "hierarchy", &h.Attributes.CreatedAt, &h.Attributes.UpdatedAt, h
}

func (c *Source) dated() (string, *string, *string, any) {
	return "catalog", &c.Attributes.CreatedAt, nil, nil
}

func (r *RuleSource) dated() (string, *string, *string, any) {
	return "catalog_rule", &r.Attributes.CreatedAt, nil, nil
}

// timeOf returns a time of a source in microseconds.
func timeOf(text string) int64 { return store.Micros(store.StoredTime(text)) }

// SetTimes sets the times that lines leave out. A stored resource keeps its time of creation, and a new one
// was created now. A product, node or hierarchy was last changed now unless it is unchanged, and a new one when it was created.
func SetTimes(ctx context.Context, in db.Session, now time.Time, sources []authoring.Source) error {
	undated := map[string][]dated{} // by table
	for _, source := range sources {
		if s, is := source.(dated); is {
			if table, createdAt, updatedAt, _ := s.dated(); *createdAt == "" || updatedAt != nil && *updatedAt == "" {
				undated[table] = append(undated[table], s)
			}
		}
	}
	for table, list := range undated {
		ids := make([]string, len(list))
		for i, s := range list {
			ids[i] = s.Key()
		}
		rows, err := db.CollectIn(ctx, in, db.ScanPair[string, []byte], store.Unique(ids), `SELECT id, body FROM `+table+` WHERE id IN ($in)`)
		if err != nil {
			return err
		}
		bodies := db.PairMap(rows)
		for _, s := range list {
			if err := setTimes(s, bodies[s.Key()], store.FormatTime(now)); err != nil {
				return err
			}
		}
	}
	return nil
}

// setTimes sets the times of a resource that is stored as body, or not if that is nil.
func setTimes(s dated, body []byte, now string) error {
	var had struct {
		Attributes struct {
			CreatedAt string `json:"created_at"`
			UpdatedAt string `json:"updated_at"`
		} `json:"attributes"`
	}
	if body != nil {
		if err := json.Unmarshal(body, &had); err != nil {
			return err
		}
	}
	_, createdAt, updatedAt, _ := s.dated()
	*createdAt = cmp.Or(*createdAt, had.Attributes.CreatedAt, now)
	if updatedAt == nil || *updatedAt != "" {
		return nil
	}
	if body == nil {
		*updatedAt = *createdAt
		return nil
	}
	*updatedAt = had.Attributes.UpdatedAt // as the comparison needs
	if _, _, _, stored := s.dated(); !bytes.Equal(body, store.Encode(stored)) {
		*updatedAt = now
	}
	return nil
}
