package exchange

import (
	"context"
	"encoding/json"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
)

// explainAttributes changes errors of attributeChecker for callers of mutations, which declare attributes there, and see
// the value of a wrong day.
func explainAttributes(ctx context.Context, in db.Session, batch []check.Line, wrong []check.ImportError) error {
	var keys []string
	for _, fault := range wrong {
		if key := attributeKey(fault.Err); key != "" {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	bodies, err := db.CollectIn(ctx, in, db.Scalar[[]byte], store.Unique(keys), `SELECT body FROM attribute WHERE id IN ($in)`)
	if err != nil {
		return err
	}
	types := map[string]catalog.AttributeType{}
	for _, body := range bodies {
		declared := &catalog.AttributeSource{}
		if err := store.Decode(body, declared); err != nil {
			return err
		}
		types[declared.ID] = declared.Attributes.AttributeType
	}
	for i, fault := range wrong {
		key := attributeKey(fault.Err)
		product, isProduct := batch[fault.Line-1].Source.(*catalog.ProductSource)
		if key == "" || !isProduct {
			continue
		}
		switch types[key] {
		case "":
			wrong[i].Err = store.UnknownReferencef(append(fault.Err.Path, "key"), "is not declared: %q; declare it with attributesUpsert", key)
		case catalog.AttributeDate:
			var text string
			if value := product.Attributes.CustomAttributes[key]; json.Unmarshal(value, &text) == nil {
				wrong[i].Err = store.Invalidf(fault.Err.Path, `must be a day such as "2026-05-01", got %q`, store.Abbreviate(text))
			}
		}
	}
	return nil
}

// attributeKey returns the key of an error of a product's attribute; "" for another.
func attributeKey(e *store.Error) string {
	if len(e.Path) == 3 && e.Path[1] == "custom_attributes" {
		return e.Path[2]
	}
	return ""
}
