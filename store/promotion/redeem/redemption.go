package redeem

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
	"portico/store/promotion/rule"
)

// redemption is one write that takes uses of codes: the codes it has locked,
// what becomes of them, and the usages that it enters.
type redemption struct {
	*db.Tx
	offers map[string]*lockedOffer      // by code
	usages map[usageOf]*CodeUsage       // the first of each
	taken  []*lockedOffer               // those that are used
	lines  []*CodeUsage                 // that are new
	of     map[*CodeUsage]code.EpochKey // whose each is
}

type usageOf struct{ reference, code string }

// lockedOffer is a code that nobody else uses from now on.
type lockedOffer struct {
	codeOffer
	was int // its uses before
}

// redeemAll takes the uses in the order in which they were asked for.
func (w *redemption) redeemAll(ctx context.Context, group []*redeemRequest) error {
	if err := w.lock(ctx, group); err != nil {
		return err
	}
	// Read after the codes: if the same reference took the last use just now, its
	// usage is seen here.
	if err := w.readUsages(ctx, group); err != nil {
		return err
	}
	for _, r := range group {
		if r.Err == nil {
			r.Out, r.Err = w.redeem(r.Actor, r.In)
		}
	}
	if len(w.lines) == 0 {
		return db.ErrUnchanged
	}
	if err := w.takeUses(ctx); err != nil {
		return err
	}
	return w.writeUsages(ctx)
}

// lock finds the codes with their promotions. They are locked in the order of
// codes, then promotions everywhere, or two writes deadlock.
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
	slices.Sort(codes)
	codes = slices.Compact(codes)
	if len(codes) > 1 {
		if err := w.PrepareBulk(ctx); err != nil {
			return err
		}
	}
	list, args := db.InList(nil, codes)
	found, err := db.Collect(ctx, w.Session, code.Scan, `
		SELECT `+code.Columns+`, promotion.id FROM `+code.LiveTables+`
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
			o := codeOffer{c, p}
			if known := w.offers[c.Code]; known == nil || o.before(known.codeOffer) {
				w.offers[c.Code] = &lockedOffer{o, c.Used}
			}
		}
	}
	return err
}

// before tells whether a code is found rather than another that reads the same,
// as findCode has it.
func (o codeOffer) before(other codeOffer) bool {
	if o.code.Held != other.code.Held {
		return o.code.Held
	}
	return cmp.Or(o.code.Created().Compare(other.code.Created()), cmp.Compare(o.promotion.Number, other.promotion.Number)) > 0
}

// readUsages finds what the references redeemed before.
func (w *redemption) readUsages(ctx context.Context, group []*redeemRequest) error {
	w.usages, w.of = map[usageOf]*CodeUsage{}, map[*CodeUsage]code.EpochKey{}
	var references, codes []string
	for _, r := range group {
		if r.Err == nil && store.IsStorableText(r.In.Code) {
			references, codes = append(references, r.In.Reference), append(codes, r.In.Code)
		}
	}
	if len(codes) == 0 {
		return nil
	}
	list, args := db.InList(nil, store.Unique(references))
	among, args := db.InList(args, store.Unique(codes))
	usages, err := db.Collect(ctx, w.Session, scanUsage, `
		SELECT `+usageColumns+` FROM code_usage
		WHERE reference IN (`+list+`) AND code IN (`+among+`)
		ORDER BY created_at, id`, args...)
	for _, u := range usages {
		if key := (usageOf{u.Reference, u.Code}); w.usages[key] == nil {
			w.usages[key] = u
		}
	}
	return err
}

// redeem takes uses of a code, unless its reference did so before.
func (w *redemption) redeem(actor store.Actor, use CodeUse) (*CodeUsage, error) {
	key := usageOf{use.Reference, use.Code}
	if made := w.usages[key]; made != nil {
		again := *made
		return &again, made.check(use)
	}
	o := w.offers[use.Code]
	if o == nil {
		return nil, refused(codeOffer{}.refusals(use, w.Now))
	}
	if refusals := o.refusals(use, w.Now); len(refusals) > 0 {
		return nil, refused(refusals)
	}
	u := &CodeUsage{ID: store.NewID(), PromotionID: o.promotion.ID, Code: use.Code, User: use.User, Reference: use.Reference,
		UnitsAsked: use.Units, Units: o.units(use.Units), Actor: actor, CreatedAt: w.Now}
	if o.code.Used == o.was {
		w.taken = append(w.taken, o)
	}
	o.code.Used += u.Units
	w.usages[key], w.of[u] = u, code.EpochKey{Number: o.promotion.Number, Epoch: o.promotion.Epoch}
	w.lines = append(w.lines, u)
	return u, nil
}

func refused(refusals []code.CodeRefusal) error {
	var list store.Errors
	for _, r := range refusals {
		list = append(list, r.Fault)
	}
	return list
}

// takeUses writes what is used by conditional updates. Where one finds a code
// or its promotion otherwise than they were read, another write came between.
func (w *redemption) takeUses(ctx context.Context) error {
	slices.SortFunc(w.taken, func(a, b *lockedOffer) int { return strings.Compare(a.code.Code, b.code.Code) })
	return store.InBlocks(w.taken, 128, func(block []*lockedOffer) error {
		args := []any{string(code.PerItem), store.Micros(w.Now)}
		rows := make([]string, len(block))
		for i, o := range block {
			n := len(args)
			rows[i] = fmt.Sprintf(`(CAST($%d AS BIGINT), CAST($%d AS BIGINT), CAST($%d AS TEXT), CAST($%d AS BIGINT), CAST($%d AS BIGINT))`, n+1, n+2, n+3, n+4, n+5)
			args = append(args, o.promotion.Number, o.promotion.Epoch, o.code.Code, o.was, o.code.Used)
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

var usageLineInsert = db.NewInserter("code_usage", usageInsert, " ON CONFLICT DO NOTHING")

// writeUsages writes what was taken, unless one of the references did so just
// now: then the uses are not to be taken once more.
func (w *redemption) writeUsages(ctx context.Context) error {
	written, err := w.Insert(ctx, usageLineInsert, len(w.lines), func(values []any, n int) []any {
		u := w.lines[n]
		of := w.of[u]
		return append(values, u.ID, of.Number, of.Epoch, u.Code, u.User, u.UnitsAsked, u.Units, u.Reference, string(u.Actor), store.Micros(u.CreatedAt), sql.NullInt64{})
	})
	if err == nil && int(written) < len(w.lines) {
		err = db.ErrRetryWrite
	}
	if err != nil {
		return err
	}
	fresh := usageCounts{}
	for _, of := range w.of {
		fresh[of.Number]++
	}
	return fresh.add(ctx, w.Tx, aPart())
}

type (
	redeemQueue   = db.WriteQueue[CodeUse, *CodeUsage]
	redeemRequest = db.QueuedRequest[CodeUse, *CodeUsage]
)

const redeemGroup = 256 // redemptions that are written together

// newRedeemQueue has one write make the redemptions that wait: it reads each
// code once and writes it once, however often it is used.
func newRedeemQueue() *redeemQueue {
	return &redeemQueue{MaxSize: redeemGroup, Size: func(CodeUse) int { return 1 },
		Write: func(ctx context.Context, t *db.Tx, group []*redeemRequest) error {
			return (&redemption{Tx: t}).redeemAll(ctx, group)
		}}
}
