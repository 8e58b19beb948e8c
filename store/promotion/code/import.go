package code

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
	"portico/store/promotion/rule"
)

// Kind is the import of codes. They come after promotions, whose numbers are part of their
// keys.
var Kind = authoring.Kind{
	Name: "promotion_code", Create: func() authoring.Source { return &codeSource{} },
	Ledger: true,
	Write:  writeImportedCodes, Delete: deleteImportedCodes, Export: exportCodes,
	After: "promotion",
}

// deleteImportedCodes deletes codes of current epochs by their ids. Their usages stay.
func deleteImportedCodes(ctx context.Context, w *authoring.Writer, ids []string) (deleted []string, err error) {
	type found struct {
		id, promotion, code string // promotion is an id
	}
	codes, err := db.CollectIn(ctx, w.Session, func(rows *sql.Rows) (c found, err error) {
		return c, rows.Scan(&c.id, &c.promotion, &c.code)
	}, ids, `
		SELECT promotion_code.id, promotion.id, promotion_code.code
		FROM promotion_code JOIN promotion ON promotion.number = promotion_code.promotion_number AND promotion.epoch = promotion_code.epoch
		WHERE promotion_code.id IN ($in)`)
	if err != nil || len(codes) == 0 {
		return nil, err
	}
	byPromotion, idOf := map[string][]string{}, map[[2]string]string{}
	for _, c := range codes {
		byPromotion[c.promotion] = append(byPromotion[c.promotion], c.code)
		idOf[[2]string{c.promotion, c.code}] = c.id
	}
	names := slices.Sorted(maps.Keys(byPromotion))
	promotions, err := rule.LockPromotions(ctx, w.Tx, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		p := promotions[name]
		if p == nil {
			continue
		}
		known, err := lockCodes(ctx, w.Tx, p, byPromotion[name])
		if err != nil {
			return deleted, err
		}
		if err := Delete(ctx, w.Tx, p.Number, p.Epoch, slices.Collect(maps.Keys(known))); err != nil {
			return deleted, err
		}
		for code := range known {
			deleted = append(deleted, idOf[[2]string{name, code}])
		}
	}
	return deleted, nil
}

// writeImportedCodes writes codes with their uses, and claims them if their promotion has not
// ended.
func writeImportedCodes(ctx context.Context, w *authoring.Writer, sources []authoring.Source) ([]string, error) {
	promotions, err := rule.LockSources(ctx, w, sources, func(r authoring.Source) string { return r.(*codeSource).PromotionID })
	if err != nil {
		return nil, err
	}
	sources = uniqueSources(sources)
	if err := deleteMoved(ctx, w, sources, promotions); err != nil {
		return nil, err
	}
	var rows [][]any
	for _, resource := range sources {
		c := resource.(*codeSource)
		p := promotions[c.PromotionID]
		maxUses, used := c.counts()
		created := int64(0)
		if c.CreatedAt != "" {
			created = store.Micros(store.StoredTime(c.CreatedAt))
		}
		rows = append(rows, []any{p.Number, p.Epoch, c.Code, c.ID, maxUses, used, c.ConsumeUnit, c.User.stored(), created, storedKey(c.Code)})
	}
	if err := importClaims(ctx, w, sources, promotions); err != nil {
		return nil, err
	}
	written, err := upsertCodes(ctx, w.Tx, rows)
	if w.DB.IsDuplicate(err) {
		err = db.ErrRetryWrite // another writer gave one of the ids to a code of another promotion since deleteMoved
	}
	return written, err
}

// codeUpsert updates a code that exists, if it differs.
const codeUpsert = `
	ON CONFLICT (promotion_number, epoch, code) DO UPDATE
	SET id = excluded.id, max_uses = excluded.max_uses, used = excluded.used, consume_unit = excluded.consume_unit, users = excluded.users,
	    created_at = CASE WHEN excluded.created_at = 0 THEN promotion_code.created_at ELSE excluded.created_at END
	WHERE promotion_code.id <> excluded.id OR promotion_code.max_uses IS DISTINCT FROM excluded.max_uses
	   OR promotion_code.used <> excluded.used OR promotion_code.consume_unit <> excluded.consume_unit
	   OR promotion_code.users <> excluded.users
	   OR (excluded.created_at <> 0 AND promotion_code.created_at <> excluded.created_at)
	RETURNING id`

// uniqueSources keeps the last of several lines with the same promotion and code, and sorts them
// by code.
func uniqueSources(sources []authoring.Source) []authoring.Source {
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

// deleteMoved deletes the codes whose id a line gives to another code, and those of former epochs
// with such an id: ids are unique.
func deleteMoved(ctx context.Context, w *authoring.Writer, sources []authoring.Source, promotions map[string]*rule.Promotion) error {
	type place struct {
		number, epoch int64
		code          string
	}
	wanted := map[string]place{}
	var ids []string
	for _, resource := range sources {
		c := resource.(*codeSource)
		p := promotions[c.PromotionID]
		wanted[c.ID], ids = place{p.Number, p.Epoch, c.Code}, append(ids, c.ID)
	}
	return store.Chunked(ids, 512, func(ids []string) error {
		list, args := db.InList(nil, ids)
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
				err = Delete(ctx, w.Tx, at.number, at.epoch, []string{at.code})
			}
		}
		return err
	})
}

// importClaims claims the codes of promotions that have not ended. It returns the error of the
// first line whose code another promotion holds, or that differs from another code only in case.
func importClaims(ctx context.Context, w *authoring.Writer, sources []authoring.Source, promotions map[string]*rule.Promotion) error {
	byPromotion, ended := map[string][]authoring.Source{}, map[string]bool{}
	for id, p := range promotions {
		var err error
		ended[id], err = p.Ended(ctx, w.Tx)
		if err != nil {
			return err
		}
	}
	for _, resource := range sources {
		if id := resource.(*codeSource).PromotionID; !ended[id] {
			byPromotion[id] = append(byPromotion[id], resource)
		}
	}
	if len(byPromotion) == 0 {
		return nil
	}
	match, err := readCase(ctx, w.Tx)
	if err != nil {
		return err
	}
	order := slices.SortedFunc(maps.Keys(byPromotion), func(a, b string) int {
		return cmp.Compare(promotions[a].Number, promotions[b].Number)
	})
	inBatch := map[string]string{} // codes by their keys
	for _, id := range order {
		codes := make([]string, len(byPromotion[id]))
		for i, resource := range byPromotion[id] {
			codes[i] = resource.(*codeSource).Code
		}
		codes = store.Unique(codes)
		claimed, err := claim(ctx, w.Tx, promotions[id], codes, match)
		if err != nil {
			return err
		}
		held, err := heldCodes(ctx, w.Tx, slices.DeleteFunc(codes, func(code string) bool { return claimed[code] }), match)
		if err != nil {
			return err
		}
		for _, resource := range byPromotion[id] {
			code := resource.(*codeSource).Code
			key := match.Key(code)
			e := duplicateCode(code)
			switch holder, taken := held[key]; {
			case claimed[code] && inBatch[key] == "":
				inBatch[key] = code
				continue
			case inBatch[key] != "" && (claimed[code] || inBatch[key] != code):
				e = duplicateOf(inBatch[key], code)
			case holder.code != code && holder.code != "":
				e = duplicateOf(holder.code, code)
			case taken && holder.Number != promotions[id].Number:
				e.Detail = "is already in use by another promotion that has not ended: \"" + store.Abbreviate(code) + "\""
			default: // the promotion has it already
				inBatch[key] = code
				continue
			}
			e.Documented, e.Path = false, []string{"code"}
			return &authoring.RowError{Source: resource, Err: e}
		}
	}
	return nil
}

// exportCodes exports the current codes of each promotion, by code.
func exportCodes(ctx context.Context, e *authoring.Exporter) error {
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
	return authoring.EachRow(ctx, e, "id", live, "promotion_number, epoch, code, promotion_id, id, max_uses, used, consume_unit, users, created_at", key, scan, authoring.ExportLines[*codeSource](e))
}

// upsertCodes inserts or updates rows of codeColumnNames and returns the ids of those that were new or different.
func upsertCodes(ctx context.Context, t *db.Tx, rows [][]any) (written []string, err error) {
	fresh := CountChanges{}
	// SQLite searches parameters linearly, so that one statement with several thousand costs more
	// than several smaller ones.
	err = store.InBlocks(rows, 128, func(rows [][]any) error {
		text, values := db.InsertSQL("promotion_code", codeColumnNames, len(rows)), slices.Concat(rows...)
		ids, err := db.Collect(ctx, t.Session, func(rows *sql.Rows) (id string, err error) {
			var of EpochKey
			err = rows.Scan(&id, &of.Number, &of.Epoch)
			fresh[of]++
			return id, err
		}, text+codeDoNothing, values...)
		written = append(written, ids...)
		if err != nil || len(ids) == len(rows) {
			return err
		}
		ids, err = db.Collect(ctx, t.Session, db.Scalar[string], text+codeUpsert, values...)
		written = append(written, ids...)
		return err
	})
	if err == nil {
		err = fresh.Add(ctx, t)
	}
	return written, err
}

// codeDoNothing inserts only codes that do not exist.
const codeDoNothing = ` ON CONFLICT (promotion_number, epoch, code) DO NOTHING RETURNING id, promotion_number, epoch`
