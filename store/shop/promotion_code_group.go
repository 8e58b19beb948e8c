package shop

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"portico/store"
)

// newCodes is codes to be made for a promotion, all of them or none.
type newCodes struct {
	promotionID string
	codes       []NewCode
	unit        ConsumeUnit
	plain       bool // nothing is wrong with them by themselves
}

// newCodeList looks at what is asked for.
func newCodeList(promotionID string, codes []NewCode, unit ConsumeUnit) newCodes {
	list := newCodes{promotionID, codes, unit, store.IsID(promotionID) && len(codes) > 0 && len(codes) <= createGroup}
	if !list.plain {
		return list
	}
	f := &faults{}
	f.consumeUnit("consumeUnit", unit)
	seen := make(map[string]bool, len(codes))
	for _, c := range codes {
		if len(f.list) > 0 || len(c.check()) > 0 || seen[c.Code] {
			list.plain = false
			return list
		}
		seen[c.Code] = c.Code != ""
	}
	return list
}

// madeCodes is codes as they were made.
type madeCodes struct {
	promotion *Promotion
	made      []*PromotionCode
}

// MarshalJSON is how an idempotency key keeps them: both in a list (updateKept).
func (m madeCodes) MarshalJSON() ([]byte, error) {
	return store.Encode([]any{m.promotion, m.made}), nil
}

func (m *madeCodes) UnmarshalJSON(kept []byte) error {
	return json.Unmarshal(kept, &[]any{&m.promotion, &m.made})
}

type (
	createQueue   = writeQueue[newCodes, madeCodes]
	createRequest = queuedRequest[newCodes, madeCodes]
)

// createGroup is how many codes are written together; as many of one request
// are worth a commit of their own.
const createGroup = 512

// newCreateQueue has one write make the codes of the requests that wait, as
// long as nothing is wrong with them. Others go alone, which finds all faults.
func newCreateQueue(s *Store) *createQueue {
	wary := &atomic.Int32{} // writes to come that look before they claim
	return &createQueue{most: createGroup, alone: s.createAlone,
		size: func(list newCodes) int {
			if !list.plain {
				return createGroup + 1
			}
			return len(list.codes)
		},
		write: func(ctx context.Context, t *tx, group []*createRequest) error {
			return (&creation{tx: t}).createAll(ctx, group, wary)
		}}
}

// creation is one write that makes codes of several requests.
type creation struct {
	*tx
	codes []createdCode
}

type createdCode struct {
	*PromotionCode
	promotion *Promotion
}

// createAll makes codes of requests that are good by themselves. That nobody
// has any of the codes is likely; where somebody has, it all begins again, and
// those requests go alone.
func (w *creation) createAll(ctx context.Context, group []*createRequest, wary *atomic.Int32) error {
	promotions, err := w.lockPromotions(ctx, promotionsOf(group))
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	if wary.Load() > 0 {
		wary.Add(-1)
		if taken, err = w.takenCodes(ctx, group); err != nil {
			return err
		}
	}
	for _, r := range group {
		w.draft(r, promotions[r.in.promotionID], taken)
	}
	if len(w.codes) == 0 {
		return errUnchanged
	}
	slices.SortFunc(w.codes, func(a, b createdCode) int { return strings.Compare(a.Code, b.Code) }) // or two writes wait for each other
	claimed, err := w.insert(ctx, claimInsert, len(w.codes), func(values []any, n int) []any {
		return append(values, w.codes[n].Code, w.codes[n].promotion.number, w.codes[n].promotion.epoch)
	})
	if err != nil {
		return err
	}
	if int(claimed) < len(w.codes) {
		wary.Store(wariness)
		for _, r := range group {
			r.err = cmp.Or(r.err, errAlone)
		}
		return errTaken
	}
	_, err = w.insert(ctx, newCodeInsert, len(w.codes), func(values []any, n int) []any {
		c := w.codes[n]
		return c.row(values, c.promotion, w.now)
	})
	return err
}

// draft makes the codes of a request, unless it is to go alone: its promotion
// takes none, or one of its codes is taken, by an earlier one of the group for
// instance.
func (w *creation) draft(r *createRequest, p *Promotion, taken map[string]bool) {
	if r.err != nil {
		return
	}
	if p == nil || p.takesCodes() != nil || slices.ContainsFunc(r.in.codes, func(c NewCode) bool { return taken[c.Code] }) {
		r.err = errAlone
		return
	}
	r.out = madeCodes{p, make([]*PromotionCode, len(r.in.codes))}
	records, ids := make([]PromotionCode, len(r.in.codes)), store.NewIDs(len(r.in.codes))
	for i, c := range r.in.codes {
		r.out.made[i] = &records[i]
		c.make(&records[i], ids[i], p, r.in.unit, w.tx)
		taken[c.Code] = c.Code != ""
		w.codes = append(w.codes, createdCode{&records[i], p})
	}
}

// takenCodes are those of the codes that somebody has or had.
func (w *creation) takenCodes(ctx context.Context, group []*createRequest) (map[string]bool, error) {
	var codes []string
	for _, r := range group {
		for _, c := range r.in.codes {
			if c.Code != "" {
				codes = append(codes, c.Code)
			}
		}
	}
	holders, err := w.holders(ctx, codes)
	taken := make(map[string]bool, len(codes))
	for code := range holders {
		taken[code] = true
	}
	return taken, err
}

func promotionsOf(group []*createRequest) (ids []string) {
	for _, r := range group {
		if r.err == nil {
			ids = append(ids, r.in.promotionID)
		}
	}
	return store.Unique(ids)
}
