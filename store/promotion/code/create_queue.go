package code

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// createInput is the input of a request: codes to create for a promotion, all or none.
type createInput struct {
	promotionID string
	codes       []NewCode
	unit        ConsumeUnit
	valid       bool // they are valid, apart from what the database knows
}

// newCreateInput validates what needs no database.
func newCreateInput(promotionID string, codes []NewCode, unit ConsumeUnit) createInput {
	in := createInput{promotionID, codes, unit, store.IsID(promotionID) && len(codes) > 0 && len(codes) <= createGroup}
	if !in.valid {
		return in
	}
	f := &authoring.Validator{}
	checkConsumeUnit(f, "consume_unit", unit)
	seen := make(map[string]bool, len(codes))
	for _, c := range codes {
		if len(f.Errors) > 0 || len(c.check()) > 0 || seen[c.Code] {
			in.valid = false
			return in
		}
		seen[c.Code] = c.Code != ""
	}
	return in
}

// createResult is the result of a request.
type createResult struct {
	promotion *rule.Promotion
	made      []*PromotionCode
}

// MarshalJSON writes the form in which an idempotency key stores the result (UpdateKept): a list
// of both members.
func (m createResult) MarshalJSON() ([]byte, error) {
	return store.Encode([]any{m.promotion, m.made}), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *createResult) UnmarshalJSON(kept []byte) error {
	return json.Unmarshal(kept, &[]any{&m.promotion, &m.made})
}

type (
	createQueue   = db.WriteQueue[createInput, createResult]
	createRequest = db.QueuedRequest[createInput, createResult]
)

// createGroup is how many codes are written together. A request with more is worth a commit of
// its own.
const createGroup = 512

// newCreateQueue returns a queue that creates the codes of waiting requests in one write.
// Requests with errors are written alone, which finds all errors.
func newCreateQueue(s *Service) *createQueue {
	wary := &atomic.Int32{} // how many further writes check before they claim
	return &createQueue{MaxSize: createGroup, WriteAlone: s.createAlone,
		Size: func(in createInput) int {
			if !in.valid {
				return createGroup + 1 // more than MaxSize is written alone
			}
			return len(in.codes)
		},
		Write: func(ctx context.Context, t *db.Tx, group []*createRequest) error {
			return (&createBatch{Tx: t}).createAll(ctx, group, wary)
		}}
}

// createBatch is one write that creates the codes of several requests.
type createBatch struct {
	*db.Tx
	codes []createdCode // to insert
	match Match
}

// createdCode is a code to insert, and its promotion.
type createdCode struct {
	*PromotionCode
	promotion *rule.Promotion
}

// createAll creates the codes of valid requests. It assumes that all codes are free. If one is
// not, the write is rolled back and each request is written alone. While wary is above 0, it first looks for codes that are taken:
// requests with taken codes come in rows, and each would roll back a write.
func (w *createBatch) createAll(ctx context.Context, group []*createRequest, wary *atomic.Int32) error {
	promotions, err := rule.LockPromotions(ctx, w.Tx, promotionsOf(group))
	if err != nil {
		return err
	}
	w.match, err = readCase(ctx, w.Tx)
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
	texts, holders := w.claims()
	claimed, err := w.Insert(ctx, claimInsert, len(texts), func(values []any, n int) []any {
		return append(values, texts[n], holders[texts[n]].Number, holders[texts[n]].Epoch)
	})
	if err != nil {
		return err
	}
	if int(claimed) < len(texts) {
		wary.Store(db.SavepointGroups)
		for _, r := range group {
			r.Err = cmp.Or(r.Err, db.ErrWriteAlone)
		}
		return errTaken
	}
	fresh := CountChanges{}
	_, err = w.Insert(ctx, newCodeInsert, len(w.codes), func(values []any, n int) []any {
		c := w.codes[n]
		fresh[EpochKey{c.promotion.Number, c.promotion.Epoch}]++
		return c.row(values, c.promotion, w.Now)
	})
	if err != nil {
		return err
	}
	for _, r := range group {
		if r.Err == nil {
			w.Record(store.AuditEvent{Actor: r.Actor, Operation: store.OperationOf(r.Ctx), Kind: store.AuditPromotionCode, ResourceID: r.In.promotionID,
				Action: store.AuditCreated, Count: len(r.Out.made)})
		}
	}
	return fresh.Add(ctx, w.Tx)
}

// claims returns the texts to claim, sorted, and who claims each. Two codes of the group never claim the same.
func (w *createBatch) claims() (texts []string, holders map[string]*rule.Promotion) {
	holders = make(map[string]*rule.Promotion, len(w.codes))
	for _, c := range w.codes {
		holders[c.Code] = c.promotion
		if w.match.ignoreCase {
			holders[Key(c.Code)] = c.promotion
		}
	}
	return slices.Sorted(maps.Keys(holders)), holders
}

// draft prepares the codes of a request, and adds them to taken. The request is written alone if its promotion accepts no
// codes or a code is taken, for example by an earlier request of the group. Keys of taken are those of Match.Key.
func (w *createBatch) draft(r *createRequest, p *rule.Promotion, taken map[string]bool) {
	if r.Err != nil {
		return
	}
	again := make(map[string]bool, len(r.In.codes))
	if p == nil || p.CheckAcceptsCodes() != nil || slices.ContainsFunc(r.In.codes, func(c NewCode) bool {
		key := w.match.Key(c.Code)
		before := taken[key] || again[key]
		again[key] = c.Code != ""
		return before
	}) {
		r.Err = db.ErrWriteAlone
		return
	}
	r.Out = createResult{p, make([]*PromotionCode, len(r.In.codes))}
	records, ids := make([]PromotionCode, len(r.In.codes)), store.NewIDs(len(r.In.codes))
	for i, c := range r.In.codes {
		r.Out.made[i] = &records[i]
		c.build(&records[i], ids[i], p, r.In.unit, w.Tx)
		taken[w.match.Key(c.Code)] = c.Code != ""
		w.codes = append(w.codes, createdCode{&records[i], p})
	}
}

// takenCodes returns the codes that are or were claimed.
func (w *createBatch) takenCodes(ctx context.Context, group []*createRequest) (map[string]bool, error) {
	var codes []string
	for _, r := range group {
		for _, c := range r.In.codes {
			if c.Code != "" {
				codes = append(codes, c.Code)
			}
		}
	}
	claims, err := db.CollectIn(ctx, w.Session, db.Scalar[string], w.match.claims(codes), `SELECT code FROM code_claim WHERE code IN ($in)`)
	taken := make(map[string]bool, len(codes))
	for _, code := range claims {
		taken[w.match.Key(code)] = true
	}
	return taken, err
}

// promotionsOf returns the promotions of the requests without errors.
func promotionsOf(group []*createRequest) (ids []string) {
	for _, r := range group {
		if r.Err == nil {
			ids = append(ids, r.In.promotionID)
		}
	}
	return store.Unique(ids)
}
