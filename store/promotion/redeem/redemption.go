package redeem

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// redemption is one write that redeems a group of uses, some of which may fail for reasons of their own.
type redemption struct {
	*db.Tx
	match     code.Match
	offers    map[string]*lockedOffer      // by the key of the code
	spellings []string                     // that codes of the group may have
	usages    map[usageKey]*CodeUsage      // the first usage of each key
	changed   []*lockedOffer               // offers with new uses
	newUsages []*CodeUsage                 // to insert
	epochs    map[*CodeUsage]code.EpochKey // of each new usage
}

// usageKey has the key of the code.
type usageKey struct{ reference, code string }

// lockedOffer is an offer whose code is locked by this write.
type lockedOffer struct {
	CodeOffer
	usedBefore int // its uses before this write
}

// redeemAll redeems the uses in the order of the requests.
func (w *redemption) redeemAll(ctx context.Context, group []*redeemRequest) error {
	if err := w.lock(ctx, group); err != nil {
		return err
	}
	// The usages are read after the codes are locked: if the same reference took the last use
	// just now, its usage is found.
	if err := w.readUsages(ctx, group); err != nil {
		return err
	}
	for _, r := range group {
		if r.Err == nil {
			r.Out, r.Err = w.redeem(r.Actor, r.In)
		}
	}
	if len(w.newUsages) == 0 {
		return db.ErrUnchanged
	}
	if err := w.updateUses(ctx); err != nil {
		return err
	}
	return w.writeUsages(ctx)
}

// lock locks the codes and their promotions, always in the order of codes, then promotions, since
// writes that lock in different orders deadlock.
func (w *redemption) lock(ctx context.Context, group []*redeemRequest) error {
	w.offers = map[string]*lockedOffer{}
	var codes, promotions []string
	for _, r := range group {
		if r.Err == nil && code.IsText(r.In.Code) {
			codes = append(codes, r.In.Code)
		}
	}
	if len(codes) == 0 {
		return nil
	}
	var err error
	w.spellings, err = w.match.Spellings(ctx, w.Session, codes)
	if err != nil {
		return err
	}
	slices.Sort(w.spellings)
	if len(w.spellings) > 1 {
		if err := w.PrepareBulk(ctx); err != nil {
			return err
		}
	}
	list, args := db.InList(nil, w.spellings)
	found, err := db.Collect(ctx, w.Session, code.Scan, `
		SELECT `+code.Columns+`, promotion.id FROM `+code.CurrentTables+`
		WHERE promotion_code.code IN (`+list+`)
		ORDER BY promotion_code.code, promotion_code.promotion_number`+w.ForUpdate("promotion_code"), args...)
	if err != nil {
		return err
	}
	for _, c := range found {
		promotions = append(promotions, c.PromotionID)
	}
	byID, err := rule.ReadPromotions(ctx, w.Session, w.Now, store.Unique(promotions))
	for _, c := range found {
		if p := byID[c.PromotionID]; p != nil {
			o := CodeOffer{c, p}
			if known := w.offers[w.match.Key(c.Code)]; known == nil || o.isPreferredTo(known.CodeOffer, w.Now) {
				w.offers[w.match.Key(c.Code)] = &lockedOffer{o, c.Used}
			}
		}
	}
	return err
}

// isPreferredTo reports whether the code, rather than another one that matches the same text, is meant.
// The order is that of code.FindAll.
func (o CodeOffer) isPreferredTo(other CodeOffer, at time.Time) bool {
	if a, b := o.Code.Held && o.Promotion.End.After(at), other.Code.Held && other.Promotion.End.After(at); a != b {
		return a
	}
	if o.Code.Held != other.Code.Held {
		return o.Code.Held
	}
	return cmp.Or(o.Code.Created().Compare(other.Code.Created()), cmp.Compare(o.Promotion.Number, other.Promotion.Number)) > 0
}

// readUsages finds what the references redeemed before, also of codes that do not exist any more.
func (w *redemption) readUsages(ctx context.Context, group []*redeemRequest) error {
	w.usages, w.epochs = map[usageKey]*CodeUsage{}, map[*CodeUsage]code.EpochKey{}
	var references []string
	codes := w.spellings
	for _, r := range group {
		if r.Err == nil && store.IsStorableText(r.In.Code) {
			references, codes = append(references, r.In.Reference), append(codes, r.In.Code)
		}
	}
	if len(references) == 0 {
		return nil
	}
	list, args := db.InList(nil, store.Unique(references))
	among, args := db.InList(args, store.Unique(codes))
	usages, err := db.Collect(ctx, w.Session, scanUsage, `
		SELECT `+usageColumns+` FROM code_usage
		WHERE reference IN (`+list+`) AND code IN (`+among+`)
		ORDER BY created_at, id`, args...)
	for _, u := range usages {
		if key := (usageKey{u.Reference, w.match.Key(u.Code)}); w.usages[key] == nil {
			w.usages[key] = u
		}
	}
	return err
}

// redeem consumes uses of a code, or returns the usage that its reference redeemed before. The writes of the uses and of the
// usage follow: it adds them to changed, newUsages and epochs.
func (w *redemption) redeem(actor store.Actor, use CodeUse) (*CodeUsage, error) {
	key := usageKey{use.Reference, w.match.Key(use.Code)}
	if made := w.usages[key]; made != nil {
		return made.again(use)
	}
	o := w.offers[w.match.Key(use.Code)]
	if o == nil {
		return nil, code.Refusals(CodeOffer{}.refusals(use, w.Now, nil))
	}
	if refusals := o.refusals(use, w.Now, nil); len(refusals) > 0 {
		return nil, code.Refusals(refusals)
	}
	u := &CodeUsage{ID: store.NewID(), PromotionID: o.Promotion.ID, Code: o.Code.Code, User: use.User, Reference: use.Reference,
		UnitsAsked: use.Units, Units: o.units(use.Units), Actor: actor, CreatedAt: w.Now}
	if o.Code.Used == o.usedBefore {
		w.changed = append(w.changed, o)
	}
	o.Code.Used += u.Units
	w.usages[key], w.epochs[u] = u, code.EpochKey{Number: o.Promotion.Number, Epoch: o.Promotion.Epoch}
	w.newUsages = append(w.newUsages, u)
	return u, nil
}

// updateUses writes the new numbers of uses. The update is conditional: if the code or its
// promotion changed after it was read, the write is retried.
func (w *redemption) updateUses(ctx context.Context) error {
	slices.SortFunc(w.changed, func(a, b *lockedOffer) int { return strings.Compare(a.Code.Code, b.Code.Code) })
	return store.InBlocks(w.changed, 128, func(block []*lockedOffer) error {
		args := []any{string(code.PerItem), store.Micros(w.Now)}
		rows := make([]string, len(block))
		for i, o := range block {
			n := len(args)
			rows[i] = fmt.Sprintf(`(CAST($%d AS BIGINT), CAST($%d AS BIGINT), CAST($%d AS TEXT), CAST($%d AS BIGINT), CAST($%d AS BIGINT))`, n+1, n+2, n+3, n+4, n+5)
			args = append(args, o.Promotion.Number, o.Promotion.Epoch, o.Code.Code, o.usedBefore, o.Code.Used)
		}
		taken, err := w.Exec(ctx, `
			WITH taking (number, epoch, code, was, used) AS (VALUES `+strings.Join(rows, ", ")+`)
			UPDATE promotion_code SET used = taking.used FROM taking
			WHERE promotion_code.promotion_number = taking.number AND promotion_code.epoch = taking.epoch AND promotion_code.code = taking.code
			  AND promotion_code.used = taking.was AND (max_uses IS NULL OR taking.used <= max_uses)
			  AND EXISTS (
			      SELECT 1 FROM promotion
			      JOIN code_claim ON code_claim.promotion_number = promotion.number AND code_claim.epoch = promotion.epoch
			      WHERE promotion.number = taking.number AND promotion.epoch = taking.epoch AND code_claim.code = taking.code
			        AND (promotion_code.consume_unit <> $1 OR NOT automatic)
			        AND enabled AND start_at <= $2 AND end_at > $2)`, args...)
		if err == nil && int(taken) < len(block) {
			err = db.ErrRetryWrite
		}
		return err
	})
}

var usageInserter = db.NewInserter("code_usage", usageColumnNames, " ON CONFLICT DO NOTHING")

// writeUsages inserts the new usages. If one of the references was redeemed meanwhile, the write
// is retried.
func (w *redemption) writeUsages(ctx context.Context) error {
	written, err := w.Insert(ctx, usageInserter, len(w.newUsages), func(values []any, n int) []any {
		u := w.newUsages[n]
		of := w.epochs[u]
		return append(values, u.ID, of.Number, of.Epoch, u.Code, u.User, u.UnitsAsked, u.Units, u.Reference, string(u.Actor), store.Micros(u.CreatedAt), sql.NullInt64{})
	})
	if err == nil && int(written) < len(w.newUsages) {
		err = db.ErrRetryWrite
	}
	if err != nil {
		return err
	}
	fresh := usageCounts{}
	for _, of := range w.epochs {
		fresh[of.Number]++
	}
	return fresh.add(ctx, w.Tx, randomPart())
}

type (
	redeemQueue   = db.WriteQueue[CodeUse, *CodeUsage]
	redeemRequest = db.QueuedRequest[CodeUse, *CodeUsage]
)

const redeemGroup = 256 // redemptions in one write

// newRedeemQueue returns a queue that redeems waiting requests in one write, which reads and
// writes each code once.
func newRedeemQueue(d *db.DB) *redeemQueue {
	return &redeemQueue{MaxSize: redeemGroup, Size: func(CodeUse) int { return 1 },
		Write: func(ctx context.Context, t *db.Tx, group []*redeemRequest) error {
			m, err := code.MatchOf(ctx, d)
			if err != nil {
				return err
			}
			return (&redemption{Tx: t, match: m}).redeemAll(ctx, group)
		}}
}
