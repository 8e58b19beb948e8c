package promotion

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// CodeKind comes after promotions, by whose numbers codes are kept.
var CodeKind = authoring.Kind{
	Name: "promotion_code", Create: func() authoring.Source { return &codeSource{} },
	Write: writeImportedCodes, Export: exportCodes,
	After: "promotion",
}

// UsageKind comes after promotions likewise.
var UsageKind = authoring.Kind{
	Name: "code_usage", Create: func() authoring.Source { return &usageSource{} },
	Write: writeUsages, Export: exportUsages,
	After: "promotion",
}

// writeImportedCodes writes codes with what was used of them, and claims them where their
// promotion has not ended.
func writeImportedCodes(w *authoring.Writer, ctx context.Context, sources []authoring.Source) (int, error) {
	promotions, err := lockPromotionsOf(w, ctx, sources, func(r authoring.Source) string { return r.(*codeSource).PromotionID })
	if err != nil {
		return 0, err
	}
	sources = eachCodeOnce(sources)
	if err := dropMoved(w, ctx, sources, promotions); err != nil {
		return 0, err
	}
	var rows [][]any
	for _, resource := range sources {
		c := resource.(*codeSource)
		p := promotions[c.PromotionID]
		maxUses, used := c.counts()
		created := int64(0)
		if c.CreatedAt != "" {
			created = store.Micros(store.CheckedTime(c.CreatedAt))
		}
		rows = append(rows, []any{p.number, p.epoch, c.Code, c.ID, maxUses, used, c.ConsumeUnit, c.User.stored(), created})
	}
	if err := importClaims(w, ctx, sources, promotions); err != nil {
		return 0, err
	}
	return putCodes(w.Tx, ctx, rows)
}

const codeUpsert = `
	ON CONFLICT (promotion_number, epoch, code) DO UPDATE
	SET id = excluded.id, max_uses = excluded.max_uses, used = excluded.used, consume_unit = excluded.consume_unit, users = excluded.users,
	    created_at = CASE WHEN excluded.created_at = 0 THEN promotion_code.created_at ELSE excluded.created_at END
	WHERE promotion_code.id <> excluded.id OR promotion_code.max_uses IS DISTINCT FROM excluded.max_uses
	   OR promotion_code.used <> excluded.used OR promotion_code.consume_unit <> excluded.consume_unit
	   OR promotion_code.users <> excluded.users
	   OR (excluded.created_at <> 0 AND promotion_code.created_at <> excluded.created_at)`

// eachCodeOnce leaves the last of the lines with one promotion and code, and
// sorts them by code.
func eachCodeOnce(sources []authoring.Source) []authoring.Source {
	last := map[[2]string]authoring.Source{}
	for _, resource := range sources {
		c := resource.(*codeSource)
		last[[2]string{c.PromotionID, c.Code}] = resource
	}
	return slices.SortedFunc(maps.Values(last), func(a, b authoring.Source) int {
		x, y := a.(*codeSource), b.(*codeSource)
		return cmp.Or(strings.Compare(x.Code, y.Code), strings.Compare(x.PromotionID, y.PromotionID))
	})
}

// dropMoved deletes the codes that have a line's id and are another code, or
// of an epoch that is gone: ids are what a code is known by.
func dropMoved(w *authoring.Writer, ctx context.Context, sources []authoring.Source, promotions map[string]*Promotion) error {
	type place struct {
		number, epoch int64
		code          string
	}
	wanted := map[string]place{}
	var ids []string
	for _, resource := range sources {
		c := resource.(*codeSource)
		p := promotions[c.PromotionID]
		wanted[c.ID], ids = place{p.number, p.epoch, c.Code}, append(ids, c.ID)
	}
	return store.Chunked(ids, 512, func(ids []string) error {
		list, args := db.In(nil, ids)
		var moved []place
		_, err := db.Collect(ctx, w.Session, func(rows *sql.Rows) (none struct{}, err error) {
			var id string
			var at place
			if err := rows.Scan(&id, &at.number, &at.epoch, &at.code); err == nil && wanted[id] != at {
				moved = append(moved, at)
			}
			return none, err
		}, `SELECT id, promotion_number, epoch, code FROM promotion_code WHERE id IN (`+list+`)`, args...)
		for _, at := range moved {
			if err == nil {
				err = dropCodes(w.Tx, ctx, at.number, at.epoch, []string{at.code})
			}
		}
		return err
	})
}

// importClaims claims the codes of promotions that have not ended; one that
// another promotion holds is its line's fault.
func importClaims(w *authoring.Writer, ctx context.Context, sources []authoring.Source, promotions map[string]*Promotion) error {
	byPromotion := map[string][]authoring.Source{}
	for _, resource := range sources {
		id := resource.(*codeSource).PromotionID
		if promotions[id].End.After(w.Now) {
			byPromotion[id] = append(byPromotion[id], resource)
		}
	}
	order := slices.SortedFunc(maps.Keys(byPromotion), func(a, b string) int {
		return cmp.Compare(promotions[a].number, promotions[b].number)
	})
	for _, id := range order {
		codes := make([]string, len(byPromotion[id]))
		for i, resource := range byPromotion[id] {
			codes[i] = resource.(*codeSource).Code
		}
		codes = store.Unique(codes)
		claimed, err := claim(w.Tx, ctx, promotions[id], codes)
		if err != nil {
			return err
		}
		holders, err := holders(w.Tx, ctx, slices.DeleteFunc(codes, func(code string) bool { return claimed[code] }))
		if err != nil {
			return err
		}
		for _, resource := range byPromotion[id] {
			code := resource.(*codeSource).Code
			if holder, held := holders[code]; held && holder != promotions[id].number {
				e := duplicateCode()
				e.Documented, e.Path, e.Detail = false, []string{"code"}, "is already in use by another promotion that has not ended: \""+store.Short(code)+"\""
				return &authoring.RowFault{Source: resource, Err: e}
			}
		}
	}
	return nil
}

// writeUsages writes uses of codes, many a statement; one that is there already
// stays as it is.
func writeUsages(w *authoring.Writer, ctx context.Context, sources []authoring.Source) (changed int, err error) {
	promotions, err := lockPromotionsOf(w, ctx, sources, func(r authoring.Source) string { return r.(*usageSource).PromotionID })
	if err != nil {
		return 0, err
	}
	most := 64
	if w.OneByOne {
		most = 1
	}
	err = store.InBlocks(sources, most, func(sources []authoring.Source) error {
		rows := make([][]any, len(sources))
		for i, resource := range sources {
			u := resource.(*usageSource)
			rows[i] = u.row(promotions[u.PromotionID].number)
		}
		n, err := w.Exec(ctx, db.InsertText("code_usage", usageInsert, len(rows))+usageUpsert, slices.Concat(rows...)...)
		changed += int(n)
		if !w.DB.IsDuplicate(err) {
			return err
		}
		if len(sources) > 1 {
			return authoring.ErrOneByOne
		}
		u := sources[0].(*usageSource)
		return &authoring.RowFault{Source: u, Err: store.Unprocessablef([]string{"reference"}, "is that of another use of the code %q: %q", u.Code, store.Short(u.Reference))}
	})
	return changed, err
}

var usageInsert = []string{"id", "promotion_number", "epoch", "code", "user_id", "units_asked", "units", "reference", "actor", "created_at", "released_at"}

func (u *usageSource) row(promotion int64) []any {
	var released *int64
	if u.ReleasedAt != "" {
		at := store.Micros(store.CheckedTime(u.ReleasedAt))
		released = &at
	}
	created := int64(0)
	if u.CreatedAt != "" {
		created = store.Micros(store.CheckedTime(u.CreatedAt))
	}
	return []any{u.ID, promotion, u.Epoch, u.Code, u.User, max(u.UnitsAsked, u.Units), u.Units, u.Reference, u.Actor, created, released}
}

const usageUpsert = `
	ON CONFLICT (id) DO UPDATE
	SET promotion_number = excluded.promotion_number, epoch = excluded.epoch, code = excluded.code, user_id = excluded.user_id,
	    units_asked = excluded.units_asked, units = excluded.units, reference = excluded.reference,
	    actor = excluded.actor, created_at = excluded.created_at, released_at = excluded.released_at
	WHERE code_usage.promotion_number <> excluded.promotion_number OR code_usage.epoch <> excluded.epoch
	   OR code_usage.code <> excluded.code OR code_usage.user_id <> excluded.user_id
	   OR code_usage.units_asked <> excluded.units_asked OR code_usage.units <> excluded.units
	   OR code_usage.reference <> excluded.reference OR code_usage.actor <> excluded.actor
	   OR code_usage.created_at <> excluded.created_at OR code_usage.released_at IS DISTINCT FROM excluded.released_at`

// lockPromotionsOf locks the promotions that sources are of; one that somebody
// deleted since the file was checked is its line's fault.
func lockPromotionsOf(w *authoring.Writer, ctx context.Context, sources []authoring.Source, id func(authoring.Source) string) (map[string]*Promotion, error) {
	ids := make([]string, len(sources))
	for i, resource := range sources {
		ids[i] = id(resource)
	}
	promotions, err := lockPromotions(w.Tx, ctx, store.Unique(ids))
	for i, resource := range sources {
		if err == nil && promotions[ids[i]] == nil {
			err = &authoring.RowFault{Source: resource, Err: store.Unprocessablef([]string{"promotion_id"}, "refers to the promotion %q, which was deleted meanwhile", ids[i])}
		}
	}
	return promotions, err
}

// exportCodes exports the codes of each promotion, by code; those that were done
// away with are gone.
func exportCodes(e *authoring.Exporter, ctx context.Context) error {
	key := []string{"promotion_number", "epoch", "code"} // as the primary key has it
	scan := func(rows *sql.Rows) ([]any, *codeSource, error) {
		c := &codeSource{Type: "promotion_code"}
		var number, epoch, used, created int64
		var maxUses sql.NullInt64
		var users string
		err := rows.Scan(&number, &epoch, &c.Code, &c.PromotionID, &c.ID, &maxUses, &used, &c.ConsumeUnit, &users, &created)
		if maxUses.Valid {
			most, remain := int(maxUses.Int64), int(maxUses.Int64-used)
			c.MaxUses, c.Uses = &most, &remain
		} else {
			c.Used = int(used)
		}
		c.User = storedCodeUser(users)
		if created != 0 {
			c.CreatedAt = store.FormatTime(store.FromMicros(created))
		}
		return []any{number, epoch, c.Code}, c, err
	}
	const live = `(
		SELECT promotion_code.promotion_number, promotion_code.epoch, promotion_code.code, promotion.id AS promotion_id, promotion_code.id, max_uses, used, consume_unit, users, promotion_code.created_at
		FROM promotion JOIN promotion_code ON promotion_code.promotion_number = promotion.number AND promotion_code.epoch = promotion.epoch) AS live`
	return db.Pages(ctx, e.In, live, "promotion_number, epoch, code, promotion_id, id, max_uses, used, consume_unit, users, created_at", key, scan, authoring.WriteAll[*codeSource](e))
}

// exportUsages exports the uses of codes whose promotion is there.
func exportUsages(e *authoring.Exporter, ctx context.Context) error {
	scan := func(rows *sql.Rows) ([]any, *usageSource, error) {
		u := &usageSource{Type: "code_usage"}
		var created int64
		var released sql.NullInt64
		err := rows.Scan(&u.ID, &u.PromotionID, &u.Epoch, &u.Code, &u.User, &u.UnitsAsked, &u.Units, &u.Reference, &u.Actor, &created, &released)
		if u.UnitsAsked == u.Units {
			u.UnitsAsked = 0
		}
		if created != 0 {
			u.CreatedAt = store.FormatTime(store.FromMicros(created))
		}
		if released.Valid {
			u.ReleasedAt = store.FormatTime(store.FromMicros(released.Int64))
		}
		return []any{u.ID}, u, err
	}
	const kept = `(
		SELECT code_usage.id, promotion.id AS promotion_id, code_usage.epoch, code, user_id, units_asked, units, reference, actor, code_usage.created_at, released_at
		FROM code_usage JOIN promotion ON promotion.number = code_usage.promotion_number) AS kept`
	return db.Pages(ctx, e.In, kept, "id, promotion_id, epoch, code, user_id, units_asked, units, reference, actor, created_at, released_at", []string{"id"}, scan, authoring.WriteAll[*usageSource](e))
}
