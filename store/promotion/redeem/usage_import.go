package redeem

import (
	"context"
	"database/sql"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// UsageKind is the import of usages. They come after promotions, whose numbers they contain.
var UsageKind = authoring.Kind{
	Name: "code_usage", Create: func() authoring.Source { return &usageSource{} },
	Ledger: true,
	Write:  writeUsages, Export: exportUsages,
	After: "promotion",
}

// writeUsages inserts or updates usages, several in a statement, and their totals. A reference that already redeemed the code is an
// authoring.RowError, or ErrOneByOne if the statement had several rows.
func writeUsages(ctx context.Context, w *authoring.Writer, sources []authoring.Source) (changed []string, err error) {
	promotions, err := rule.LockSources(ctx, w, sources, func(r authoring.Source) string { return r.(*usageSource).PromotionID })
	if err != nil {
		return nil, err
	}
	most := 64
	if w.OneByOne {
		most = 1
	}
	counts := usageCounts{}
	err = store.InBlocks(sources, most, func(sources []authoring.Source) error {
		ids, err := upsertUsages(ctx, w, sources, promotions, counts)
		changed = append(changed, ids...)
		if !w.DB.IsDuplicate(err) {
			return err
		}
		if len(sources) > 1 {
			return authoring.ErrOneByOne
		}
		u := sources[0].(*usageSource)
		return &authoring.RowError{Source: u, Err: store.Unprocessablef([]string{"reference"}, "was already used for the code %q: %q", u.Code, store.Abbreviate(u.Reference))}
	})
	if err == nil {
		err = counts.add(ctx, w.Tx, importPart)
	}
	return changed, err
}

// upsertUsages inserts or updates usages, and adds the changes to counts. It returns the ids of new or changed ones.
func upsertUsages(ctx context.Context, w *authoring.Writer, sources []authoring.Source, promotions map[string]*rule.Promotion, counts usageCounts) (changed []string, err error) {
	there, err := lockUsages(ctx, w.Tx, sources)
	if err != nil {
		return nil, err
	}
	var fresh, known [][]any
	for _, resource := range sources {
		u := resource.(*usageSource)
		number := promotions[u.PromotionID].Number
		was, is := there[u.ID]
		counts[number]++
		if is {
			counts[was]-- // the promotion that it was of
			known = append(known, u.row(number))
		} else {
			fresh = append(fresh, u.row(number))
		}
	}
	for _, put := range []struct {
		rows   [][]any
		clause string
		all    bool // every row must be written, else another writer has inserted some
	}{{fresh, ` ON CONFLICT (id) DO NOTHING`, true}, {known, usageUpsert, false}} {
		if len(put.rows) == 0 {
			continue
		}
		ids, err := db.Collect(ctx, w.Session, db.Scalar[string], db.InsertSQL("code_usage", usageColumnNames, len(put.rows))+put.clause+` RETURNING id`, slices.Concat(put.rows...)...)
		changed = append(changed, ids...)
		if err == nil && put.all && len(ids) < len(put.rows) {
			err = db.ErrRetryWrite
		}
		if err != nil {
			return changed, err
		}
	}
	return changed, nil
}

var usageColumnNames = []string{"id", "promotion_number", "epoch", "code", "user_id", "units_asked", "units", "reference", "actor", "created_at", "released_at"}

// row returns the values of usageColumnNames. promotion is the number.
func (u *usageSource) row(promotion int64) []any {
	var released *int64
	if u.ReleasedAt != "" {
		at := store.Micros(store.StoredTime(u.ReleasedAt))
		released = &at
	}
	created := int64(0)
	if u.CreatedAt != "" {
		created = store.Micros(store.StoredTime(u.CreatedAt))
	}
	return []any{u.ID, promotion, u.Epoch, u.Code, u.User, max(u.UnitsAsked, u.Units), u.Units, u.Reference, u.Actor, created, released}
}

// usageUpsert updates a usage that exists, if it differs.
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

// lockUsages locks the usages that exist and returns the numbers of their promotions by id.
func lockUsages(ctx context.Context, t *db.Tx, sources []authoring.Source) (map[string]int64, error) {
	ids := make([]string, len(sources))
	for i, resource := range sources {
		ids[i] = resource.Key()
	}
	slices.Sort(ids) // the same lock order everywhere
	known, err := db.CollectIn(ctx, t.Session, db.ScanPair[string, int64], ids,
		`SELECT id, promotion_number FROM code_usage WHERE id IN ($in) ORDER BY id`+t.ForUpdate("code_usage"))
	return db.PairMap(known), err
}

// exportUsages exports the usages of existing promotions. Deleted promotions are not exported,
// and so their usages are not either.
func exportUsages(ctx context.Context, e *authoring.Exporter) error {
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
	return authoring.EachRow(ctx, e, "id", kept, "id, promotion_id, epoch, code, user_id, units_asked, units, reference, actor, created_at, released_at", []string{"id"}, scan, authoring.ExportLines[*usageSource](e))
}
