package code

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// NewCode is a code to be made, as both surfaces give it.
type NewCode struct {
	Code        string      `json:"code,omitempty"`        // empty for a new one that nobody guesses
	ConsumeUnit ConsumeUnit `json:"consumeUnit,omitempty"` // empty for the one of all codes
	User        CodeUser    `json:"user,omitzero"`         // who may use it
	MaxUses     *int        `json:"uses,omitempty"`        // at least 1; nil for any number
}

// MarshalJSON writes what a second use of an idempotency key is told from
// another input by: a user that was given as a text is a list of one.
func (c NewCode) MarshalJSON() ([]byte, error) {
	type plain NewCode
	return json.Marshal(struct {
		plain
		User []string `json:"user,omitzero"`
	}{plain(c), c.User.Names()})
}

// check finds what is wrong with a code.
func (c NewCode) check() (list store.Errors) {
	f := &authoring.Validator{}
	checkCodeText(f, "code", c.Code)
	checkConsumeUnit(f, "consume_unit", c.ConsumeUnit)
	if c.MaxUses != nil {
		f.Within("uses", int64(*c.MaxUses), 1, store.MaxStock)
	}
	checkCodeUser(f, "user", c.User)
	return f.Errors
}

func checkConsumeUnit(f *authoring.Validator, member string, unit ConsumeUnit) {
	if unit != "" {
		f.OneOf(member, string(unit), string(PerCart), string(PerItem))
	}
}

// CreatePromotionCodes makes codes for a promotion, all or none; unit is that
// of the codes which name none, itself PerCart where it is empty. They come
// back in the order asked for.
//
// NOT_FOUND for an unknown promotion; UNPROCESSABLE for an automatic one, for
// one that has ended, for no codes or more than MaxCodes, and for each code
// that a promotion which has not ended holds, this one included. Every faulty
// row is told, in their order, whatever is wrong with each, of very many the
// first ones.
func (s *CodeService) CreatePromotionCodes(ctx context.Context, actor store.Actor, promotionID string, codes []NewCode, unit ConsumeUnit) (p *rule.Promotion, made []*PromotionCode, err error) {
	list, err := s.creates.Do(ctx, s.db, actor, newCodeList(promotionID, codes, unit))
	if err != nil {
		return nil, nil, err
	}
	for _, c := range list.made {
		c.Promotion = list.promotion // which is not kept with each of them
	}
	return list.promotion, list.made, nil
}

// createAlone makes the codes of one request in a write of its own, and tells
// of each that is wrong.
func (s *CodeService) createAlone(r *createRequest) {
	f, asked := &authoring.Validator{}, r.In
	checkConsumeUnit(f, "consume_unit", asked.unit)
	likely := true // that all is well
	create := func(ctx context.Context, t *db.Tx) (out madeCodes, err error) {
		if out.promotion, err = rule.LockPromotion(ctx, t, "promotion_id", asked.promotionID); err != nil {
			return out, err
		}
		if err := out.promotion.CheckAcceptsCodes(); err != nil {
			return out, err
		}
		switch {
		case len(asked.codes) == 0:
			return out, store.Unprocessablef([]string{"codes"}, "is required: name at least one code")
		case len(asked.codes) > MaxCodes:
			return out, store.Unprocessablef([]string{"codes"}, "must be at most %d, got %d; send them in several requests", MaxCodes, len(asked.codes))
		}
		out.made, err = addCodes(ctx, t, out.promotion, asked.codes, asked.unit, slices.Clone(f.Errors), likely)
		return out, err
	}
	key := store.IdempotencyKeyOf(r.Ctx)
	if r.Out, r.Err = db.UpdateKept(r.Ctx, s.db, key, r.Actor, create); errors.Is(r.Err, errTaken) {
		likely = false
		r.Out, r.Err = db.UpdateKept(r.Ctx, s.db, key, r.Actor, create)
	}
}

// addCodes writes codes to a promotion that is locked, unless one is at fault,
// or there are faults already. Where it is likely that none is, it looks no
// closer and may be errTaken.
func addCodes(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []NewCode, unit ConsumeUnit, faulty store.Errors, likely bool) ([]*PromotionCode, error) {
	made := make([]*PromotionCode, len(codes))
	records := make([]PromotionCode, len(codes))
	first := make(map[string]int, len(codes)) // of the codes that can be, where each is
	ids := store.NewIDs(len(codes))
	for i, c := range codes {
		made[i] = &records[i]
		c.make(made[i], ids[i], p, unit, t)
		faults := c.check()
		if _, twice := first[made[i].Code]; twice {
			faults = append(faults, duplicateCode().At("code"))
		} else if !slices.ContainsFunc(faults, func(fault *store.Error) bool { return fault.Path[0] == "code" }) {
			first[made[i].Code] = i
		}
		for _, fault := range faults {
			faulty = append(faulty, fault.At("codes", strconv.Itoa(i)))
		}
	}
	order := slices.Sorted(maps.Keys(first)) // or two batches wait for each other
	if likely && len(faulty) == 0 {
		if err := claimNew(ctx, t, p, order); err != nil {
			return nil, err
		}
	} else if err := claimEach(ctx, t, p, order, codes, first, faulty); err != nil {
		return nil, err
	}
	_, err := t.Insert(ctx, newCodeInsert, len(order), func(values []any, n int) []any {
		return made[first[order[n]]].row(values, p, t.Now)
	})
	if err != nil {
		return nil, err
	}
	return made, Counts{EpochKey{p.Number, p.Epoch}: len(order)}.Add(ctx, t)
}

// claimEach claims codes, and tells of each that another has.
func claimEach(ctx context.Context, t *db.Tx, p *rule.Promotion, order []string, codes []NewCode, first map[string]int, faulty store.Errors) error {
	claimed, err := claim(ctx, t, p, order)
	if err != nil {
		return err
	}
	for _, code := range order {
		if claimed[code] {
			continue
		}
		if codes[first[code]].Code == "" {
			return db.ErrRetryWrite // a new one was taken: one in 2^60
		}
		faulty = append(faulty, duplicateCode().At("codes", strconv.Itoa(first[code]), "code"))
	}
	return store.BatchError(faulty)
}

// make makes the new code, as it will be read.
func (c *NewCode) make(made *PromotionCode, id string, p *rule.Promotion, unit ConsumeUnit, t *db.Tx) {
	*made = PromotionCode{ID: id, PromotionID: p.ID, Code: c.Code, MaxUses: c.MaxUses, ConsumeUnit: cmp.Or(c.ConsumeUnit, unit, PerCart), User: c.User,
		CreatedAt: &t.Now, Held: true, Promotion: p}
	if made.Code == "" {
		made.Code = newCode()
	}
}

// row appends the values of codeInsert of a code that is new.
func (c *PromotionCode) row(values []any, p *rule.Promotion, now time.Time) []any {
	return append(values, p.Number, p.Epoch, c.Code, c.ID, c.MaxUses, 0, string(c.ConsumeUnit), c.User.stored(), store.Micros(now))
}
