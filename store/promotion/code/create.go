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

// NewCode is a code to create.
type NewCode struct {
	Code        string      `json:"code,omitempty"`        // empty for a random code
	ConsumeUnit ConsumeUnit `json:"consumeUnit,omitempty"` // empty for the default of the request
	User        User        `json:"users,omitzero"`        // who may use it
	MaxUses     *int        `json:"maxUses,omitempty"`     // at least 1; nil for no limit
}

// MarshalJSON writes the form by which idempotency keys compare inputs: a single user is a list
// of one.
func (c NewCode) MarshalJSON() ([]byte, error) {
	type plain NewCode
	return json.Marshal(struct {
		plain
		User []string `json:"users,omitzero"`
	}{plain(c), c.User.Names()})
}

// check returns the errors of the code's members.
func (c NewCode) check() (list store.Errors) {
	f := &authoring.Validator{}
	checkCodeText(f, "code", c.Code)
	checkConsumeUnit(f, "consume_unit", c.ConsumeUnit)
	if c.MaxUses != nil {
		f.Within("uses", int64(*c.MaxUses), 1, store.MaxCount)
	}
	checkCodeUser(f, "user", c.User)
	return f.Errors
}

// checkConsumeUnit checks a unit, which may be empty.
func checkConsumeUnit(f *authoring.Validator, member string, unit ConsumeUnit) {
	if unit != "" {
		f.OneOf(member, string(unit), string(PerCart), string(PerItem))
	}
}

// Create creates codes for a promotion, all or none, and returns them in the given
// order. unit applies to codes without one; the default is PerCart.
//
// It returns NOT_FOUND for an unknown promotion. It returns UNPROCESSABLE for a promotion that is
// automatic or has ended, for no codes or more than MaxCodesPerRequest, and for each code that a promotion
// which has not ended holds, this one included. The error lists every invalid row in order, or
// the first ones of very many.
func (s *Service) Create(ctx context.Context, actor store.Actor, promotionID string, codes []NewCode, unit ConsumeUnit) (p *rule.Promotion, made []*PromotionCode, err error) {
	list, err := s.creates.Do(ctx, s.db, actor, newCreateInput(promotionID, codes, unit))
	if err != nil {
		return nil, nil, err
	}
	for _, c := range list.made {
		c.Promotion = list.promotion // not stored with each code
	}
	return list.promotion, list.made, nil
}

// createAlone creates the codes of one request in a write of its own, and finds the errors of
// each.
func (s *Service) createAlone(r *createRequest) {
	f, asked := &authoring.Validator{}, r.In
	checkConsumeUnit(f, "consume_unit", asked.unit)
	likely := true // that all codes are free
	create := func(ctx context.Context, t *db.Tx) (out createResult, err error) {
		out.promotion, err = rule.LockPromotion(ctx, t, "promotion_id", asked.promotionID)
		if err != nil {
			return out, err
		}
		if err := out.promotion.CheckAcceptsCodes(); err != nil {
			return out, err
		}
		switch {
		case len(asked.codes) == 0:
			return out, store.Unprocessablef([]string{"codes"}, "is required: name at least one code")
		case len(asked.codes) > MaxCodesPerRequest:
			return out, store.Unprocessablef([]string{"codes"}, "must be at most %d, got %d. Send them in several requests.", MaxCodesPerRequest, len(asked.codes))
		}
		out.made, err = addCodes(ctx, t, out.promotion, asked.codes, asked.unit, slices.Clone(f.Errors), likely)
		return out, err
	}
	key := store.IdempotencyKeyOf(r.Ctx)
	r.Out, r.Err = db.UpdateKept(r.Ctx, s.db, key, r.Actor, create)
	if errors.Is(r.Err, errTaken) {
		likely = false
		r.Out, r.Err = db.UpdateKept(r.Ctx, s.db, key, r.Actor, create)
	}
}

// addCodes adds codes to a locked promotion, unless errs or a code has an error. If likely is set
// it assumes that the codes are free, and returns errTaken if one is not.
func addCodes(ctx context.Context, t *db.Tx, p *rule.Promotion, codes []NewCode, unit ConsumeUnit, errs store.Errors, likely bool) ([]*PromotionCode, error) {
	match, err := readCase(ctx, t)
	if err != nil {
		return nil, err
	}
	made := make([]*PromotionCode, len(codes))
	records := make([]PromotionCode, len(codes))
	first := make(map[string]int, len(codes)) // index of each code without errors
	byKey := make(map[string]int, len(codes)) // the same by Match.Key
	ids := store.NewIDs(len(codes))
	for i, c := range codes {
		made[i] = &records[i]
		c.build(made[i], ids[i], p, unit, t)
		codeErrs := c.check()
		key := match.Key(made[i].Code)
		if before, twice := byKey[key]; twice {
			codeErrs = append(codeErrs, twiceInRequest(made[before].Code, made[i].Code, before).At("code"))
		} else if !slices.ContainsFunc(codeErrs, func(e *store.Error) bool { return e.Path[0] == "code" }) {
			first[made[i].Code], byKey[key] = i, i
		}
		for _, e := range codeErrs {
			errs = append(errs, e.At("codes", strconv.Itoa(i)))
		}
	}
	order := slices.Sorted(maps.Keys(first)) // writes that lock in different orders deadlock
	if likely && len(errs) == 0 {
		if err := claimNew(ctx, t, p, order, match); err != nil {
			return nil, err
		}
	} else if err := claimEach(ctx, t, p, order, codes, first, errs, match); err != nil {
		return nil, err
	}
	_, err = t.Insert(ctx, newCodeInsert, len(order), func(values []any, n int) []any {
		return made[first[order[n]]].row(values, p, t.Now)
	})
	if err != nil {
		return nil, err
	}
	recordCodes(t, p.ID, store.AuditCreated, len(order))
	return made, CountChanges{EpochKey{p.Number, p.Epoch}: len(order)}.Add(ctx, t)
}

// recordCodes records how many codes of a promotion were written. The audit log does not show codes, which are worth
// money, nor whom they are for.
func recordCodes(t *db.Tx, promotionID string, action store.AuditAction, count int) {
	t.Record(store.AuditEvent{Kind: store.AuditPromotionCode, ResourceID: promotionID, Action: action, Count: count})
}

// claimEach claims codes and returns errs, with an error for each code that another promotion holds. order has the codes to claim, and
// first the index of each in codes.
func claimEach(ctx context.Context, t *db.Tx, p *rule.Promotion, order []string, codes []NewCode, first map[string]int, errs store.Errors, match Match) error {
	claimed, err := claim(ctx, t, p, order, match)
	if err != nil {
		return err
	}
	held, err := heldCodes(ctx, t, slices.DeleteFunc(slices.Clone(order), func(code string) bool { return claimed[code] }), match)
	if err != nil {
		return err
	}
	for _, code := range order {
		if claimed[code] {
			continue
		}
		if codes[first[code]].Code == "" {
			return db.ErrRetryWrite // a random code was taken: one in 2^60
		}
		errs = append(errs, duplicateOf(held[match.Key(code)].code, code).At("codes", strconv.Itoa(first[code]), "code"))
	}
	return store.BatchError(errs)
}

// build fills in the code to store.
func (c *NewCode) build(made *PromotionCode, id string, p *rule.Promotion, unit ConsumeUnit, t *db.Tx) {
	*made = PromotionCode{ID: id, PromotionID: p.ID, Code: c.Code, MaxUses: c.MaxUses, ConsumeUnit: cmp.Or(c.ConsumeUnit, unit, PerCart), User: c.User,
		CreatedAt: &t.Now, Held: true, Promotion: p}
	if made.Code == "" {
		made.Code = newCode()
	}
}

// row appends the values of codeColumnNames.
func (c *PromotionCode) row(values []any, p *rule.Promotion, now time.Time) []any {
	return append(values, p.Number, p.Epoch, c.Code, c.ID, c.MaxUses, 0, string(c.ConsumeUnit), c.User.stored(), store.Micros(now), storedKey(c.Code))
}
