package code

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/promotion/rule"
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
	f := &authoring.Validator{}
	checkConsumeUnit(f, "consume_unit", unit)
	seen := make(map[string]bool, len(codes))
	for _, c := range codes {
		if len(f.Errors) > 0 || len(c.check()) > 0 || seen[c.Code] {
			list.plain = false
			return list
		}
		seen[c.Code] = c.Code != ""
	}
	return list
}

// madeCodes is codes as they were made.
type madeCodes struct {
	promotion *rule.Promotion
	made      []*PromotionCode
}

// MarshalJSON is how an idempotency key keeps them: both in a list (UpdateKept).
func (m madeCodes) MarshalJSON() ([]byte, error) {
	return store.Encode([]any{m.promotion, m.made}), nil
}

func (m *madeCodes) UnmarshalJSON(kept []byte) error {
	return json.Unmarshal(kept, &[]any{&m.promotion, &m.made})
}

type (
	createQueue   = db.WriteQueue[newCodes, madeCodes]
	createRequest = db.QueuedRequest[newCodes, madeCodes]
)

// createGroup is how many codes are written together; as many of one request
// are worth a commit of their own.
const createGroup = 512

// newCreateQueue has one write make the codes of the requests that wait, as
// long as nothing is wrong with them. Others go alone, which finds all faults.
func newCreateQueue(s *CodeService) *createQueue {
	wary := &atomic.Int32{} // writes to come that look before they claim
	return &createQueue{MaxSize: createGroup, WriteAlone: s.createAlone,
		Size: func(list newCodes) int {
			if !list.plain {
				return createGroup + 1
			}
			return len(list.codes)
		},
		Write: func(ctx context.Context, t *db.Tx, group []*createRequest) error {
			return (&creation{Tx: t}).createAll(ctx, group, wary)
		}}
}

// creation is one write that makes codes of several requests.
type creation struct {
	*db.Tx
	codes []createdCode
}

type createdCode struct {
	*PromotionCode
	promotion *rule.Promotion
}

// createAll makes codes of requests that are good by themselves. That nobody
// has any of the codes is likely; where somebody has, it all begins again, and
// those requests go alone.
func (w *creation) createAll(ctx context.Context, group []*createRequest, wary *atomic.Int32) error {
	promotions, err := rule.LockPromotions(ctx, w.Tx, promotionsOf(group))
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
		w.draft(r, promotions[r.In.promotionID], taken)
	}
	if len(w.codes) == 0 {
		return db.ErrUnchanged
	}
	slices.SortFunc(w.codes, func(a, b createdCode) int { return strings.Compare(a.Code, b.Code) }) // or two writes wait for each other
	claimed, err := w.Insert(ctx, claimInsert, len(w.codes), func(values []any, n int) []any {
		return append(values, w.codes[n].Code, w.codes[n].promotion.Number, w.codes[n].promotion.Epoch)
	})
	if err != nil {
		return err
	}
	if int(claimed) < len(w.codes) {
		wary.Store(db.SavepointGroups)
		for _, r := range group {
			r.Err = cmp.Or(r.Err, db.ErrWriteAlone)
		}
		return errTaken
	}
	fresh := Counts{}
	_, err = w.Insert(ctx, newCodeInsert, len(w.codes), func(values []any, n int) []any {
		c := w.codes[n]
		fresh[EpochKey{c.promotion.Number, c.promotion.Epoch}]++
		return c.row(values, c.promotion, w.Now)
	})
	if err != nil {
		return err
	}
	return fresh.Add(ctx, w.Tx)
}

// draft makes the codes of a request, unless it is to go alone: its promotion
// takes none, or one of its codes is taken, by an earlier one of the group for
// instance.
func (w *creation) draft(r *createRequest, p *rule.Promotion, taken map[string]bool) {
	if r.Err != nil {
		return
	}
	if p == nil || p.CheckAcceptsCodes() != nil || slices.ContainsFunc(r.In.codes, func(c NewCode) bool { return taken[c.Code] }) {
		r.Err = db.ErrWriteAlone
		return
	}
	r.Out = madeCodes{p, make([]*PromotionCode, len(r.In.codes))}
	records, ids := make([]PromotionCode, len(r.In.codes)), store.NewIDs(len(r.In.codes))
	for i, c := range r.In.codes {
		r.Out.made[i] = &records[i]
		c.make(&records[i], ids[i], p, r.In.unit, w.Tx)
		taken[c.Code] = c.Code != ""
		w.codes = append(w.codes, createdCode{&records[i], p})
	}
}

// takenCodes are those of the codes that somebody has or had.
func (w *creation) takenCodes(ctx context.Context, group []*createRequest) (map[string]bool, error) {
	var codes []string
	for _, r := range group {
		for _, c := range r.In.codes {
			if c.Code != "" {
				codes = append(codes, c.Code)
			}
		}
	}
	holders, err := codeHolders(ctx, w.Tx, codes)
	taken := make(map[string]bool, len(codes))
	for code := range holders {
		taken[code] = true
	}
	return taken, err
}

func promotionsOf(group []*createRequest) (ids []string) {
	for _, r := range group {
		if r.Err == nil {
			ids = append(ids, r.In.promotionID)
		}
	}
	return store.Unique(ids)
}
