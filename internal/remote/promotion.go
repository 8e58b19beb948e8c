package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"portico/store"
	"portico/store/promotion/rule"
)

// fetchPromotions writes the promotions of the types that Portico has, and counts the others.
func (f *fetcher) fetchPromotions(ctx context.Context) error {
	known, err := f.folder.ids("promotions")
	if err != nil {
		return err
	}
	state := &f.folder.state
	err = f.each(ctx, "promotions", "promotions", resourceList{path: "/v2/promotions"}, func(p *page) error {
		for _, raw := range p.Data {
			var promotion struct {
				rule.Source
				Meta struct {
					Timestamps struct {
						CreatedAt string `json:"created_at"`
						UpdatedAt string `json:"updated_at"`
					} `json:"timestamps"`
				} `json:"meta"`
			}
			if err := decodeRow("promotion", raw, &promotion); err != nil {
				return err
			}
			if known[promotion.ID] {
				continue
			}
			known[promotion.ID] = true
			if !slices.Contains(rule.PromotionTypes(), rule.PromotionType(promotion.PromotionType)) {
				state.Counts["promotions of unknown types"]++
				continue
			}
			p := promotion.Source
			p.Type, p.CreatedAt, p.UpdatedAt = "promotion", utc(promotion.Meta.Timestamps.CreatedAt), utc(promotion.Meta.Timestamps.UpdatedAt)
			if p.Description == nil { // imports need one, and a schema
				p.Description = new(string)
			}
			if len(p.Schema) == 0 || string(p.Schema) == "null" {
				p.Schema = json.RawMessage("{}")
			}
			if err := f.folder.write("promotions", p); err != nil {
				return err
			}
		}
		return nil
	})
	return f.optional("promotions", err)
}

// wireCode is a code. Uses is what is left of MaxUses; a server may send only one of them.
type wireCode struct {
	ID          string          `json:"id"`
	Code        string          `json:"code"`
	Uses        *int            `json:"uses"`
	MaxUses     *int            `json:"max_uses"`
	ConsumeUnit string          `json:"consume_unit"`
	User        json.RawMessage `json:"user"`
	CreatedAt   string          `json:"created_at"`
}

// codeLine is a code in the import format.
type codeLine struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	PromotionID string          `json:"promotion_id"`
	Code        string          `json:"code"`
	MaxUses     *int            `json:"max_uses,omitempty"`
	Uses        *int            `json:"uses,omitempty"`
	ConsumeUnit string          `json:"consume_unit,omitempty"`
	User        json.RawMessage `json:"user,omitempty"`
	CreatedAt   string          `json:"created_at,omitempty"`
}

// fetchCodes writes the codes of promotions that are not automatic. The import makes the code of an automatic one.
func (f *fetcher) fetchCodes(ctx context.Context) error {
	known, err := f.folder.ids("codes")
	if err != nil {
		return err
	}
	promotions, err := f.promotionsWithCodes()
	if err != nil {
		return err
	}
	state := &f.folder.state
	for _, promotion := range promotions[min(state.CodesDone, len(promotions)):] {
		l := resourceList{path: "/v2/promotions/" + url.PathEscape(promotion) + "/codes"}
		err := f.each(ctx, "codes", "codes", l, func(p *page) error {
			for _, raw := range p.Data {
				var c wireCode
				if err := decodeRow("promotion code", raw, &c); err != nil {
					return err
				}
				l := c.line(promotion)
				if known[l.ID] {
					continue
				}
				known[l.ID] = true
				if l.MaxUses == nil && l.Uses == nil {
					state.Counts["codes without limit"]++
				}
				if err := f.folder.write("codes", l); err != nil {
					return err
				}
			}
			return nil
		})
		if err := f.optional("promotion codes", err); err != nil {
			return err
		}
		delete(state.At, "codes") // the next promotion reads its list from the start
		state.CodesDone++
	}
	return nil
}

// promotionsWithCodes returns the promotions that were written and can have codes, in their order.
func (f *fetcher) promotionsWithCodes() (ids []string, err error) {
	err = f.folder.each("promotions", func(text []byte) error {
		var promotion struct {
			ID        string `json:"id"`
			Automatic bool   `json:"automatic"`
		}
		err := json.Unmarshal(text, &promotion)
		if err == nil && !promotion.Automatic && store.IsID(promotion.ID) {
			ids = append(ids, promotion.ID)
		}
		return err
	})
	return ids, err
}

// line returns the line of a code of a promotion, with its uses within 0 and MaxUses.
func (c *wireCode) line(promotion string) codeLine {
	l := codeLine{Type: "promotion_code", ID: cmp.Or(c.ID, derivedID("code", promotion, c.Code)), PromotionID: promotion, Code: c.Code,
		MaxUses: c.MaxUses, Uses: c.Uses, ConsumeUnit: c.ConsumeUnit, User: c.User, CreatedAt: utc(c.CreatedAt)}
	if string(l.User) == "null" || string(l.User) == `""` {
		l.User = nil
	}
	if l.Uses != nil {
		l.Uses = new(max(*l.Uses, 0))
	}
	if l.Uses != nil && l.MaxUses != nil {
		l.Uses = new(min(*l.Uses, *l.MaxUses))
	}
	return l
}
