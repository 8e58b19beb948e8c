package exchange

import (
	"context"
	"encoding/json"
	"strconv"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
)

// AttributeValueInput is a value of a declared attribute; nil keeps it, unless it is among the nulls.
type AttributeValueInput struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value,omitempty"`
}

// attributes sets values of attributes; those that the item does not name stay. A null list removes all.
func (p *itemPatch) attributes(values []*AttributeValueInput) {
	if values == nil && p.null("attributes") {
		p.Set(nil, "attributes", "custom_attributes")
	}
	refuseRepeated(p, "attributes", values, func(a *AttributeValueInput) string { return a.Key })
	for i, attribute := range values {
		if len(attribute.Value) > 0 {
			p.Set(attribute.Value, "attributes", "custom_attributes", attribute.Key)
		} else if p.null("attributes." + strconv.Itoa(i) + ".value") {
			p.Set(nil, "attributes", "custom_attributes", attribute.Key)
		}
	}
}

// explainAttributes replaces errors of attributeChecker in wrong by those for callers of mutations: an attribute that is not
// declared leads to attributesUpsert, and a wrong day shows its value.
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
		source, attributed := batch[fault.Line-1].Source.(catalog.Attributed)
		if key == "" || !attributed {
			continue
		}
		switch types[key] {
		case "":
			wrong[i].Err = store.UnknownReferencef(append(fault.Err.Path, "key"), "is not declared: %q; declare it with attributesUpsert", key)
		case catalog.AttributeDate:
			var text string
			if value := source.OwnAttributes()[key]; json.Unmarshal(value, &text) == nil {
				wrong[i].Err = store.Invalidf(fault.Err.Path, `must be a day such as "2026-05-01", got %q`, store.Abbreviate(text))
			}
		}
	}
	return nil
}

// attributeKey returns the key of an error of a value of an attribute; "" for another.
func attributeKey(e *store.Error) string {
	if len(e.Path) == 3 && e.Path[1] == "custom_attributes" {
		return e.Path[2]
	}
	return ""
}
