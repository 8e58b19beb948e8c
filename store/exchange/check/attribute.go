package check

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// attributeChecker checks the attributes of products and nodes against their declarations, which may be in the
// file, before or after them, or in the store. A declaration in the file wins.
type attributeChecker struct {
	declared map[string]Line                              // in the file, by key
	used     map[catalog.AttributeUse][]attributePosition // the first MaxImportErrors of each, which is how many are listed
}

// attributePosition is a value in the file.
type attributePosition struct {
	line int
	kind string
}

// NewAttributeChecker returns a checker without lines.
func NewAttributeChecker() *attributeChecker {
	return &attributeChecker{declared: map[string]Line{}, used: map[catalog.AttributeUse][]attributePosition{}}
}

// Add records what a line declares or has. Lines with errors do not count.
func (c *attributeChecker) Add(d Line) {
	switch source := d.Source.(type) {
	case *catalog.AttributeSource:
		if len(d.Errors) == 0 {
			c.declared[source.ID] = d
		}
	case catalog.Attributed:
		if len(d.Errors) > 0 {
			return
		}
		for _, use := range source.OwnAttributes().Uses() {
			if len(c.used[use]) < MaxImportErrors {
				c.used[use] = append(c.used[use], attributePosition{d.Number, d.Kind})
			}
		}
	}
}

// Wrong reports values that have no declaration or do not fit it, and declarations that change the type
// of values, by line.
func (c *attributeChecker) Wrong(ctx context.Context, in db.Session) (list []ImportError, err error) {
	keys := map[string]bool{}
	for use := range c.used {
		keys[use.Key] = true
	}
	for key := range c.declared {
		keys[key] = true
	}
	stored, err := db.CollectIn(ctx, in, db.Scalar[[]byte], slices.Sorted(maps.Keys(keys)), `SELECT body FROM attribute WHERE id IN ($in)`)
	if err != nil {
		return nil, err
	}
	declared := map[string]*catalog.AttributeSource{}
	for key, d := range c.declared {
		declared[key] = d.Source.(*catalog.AttributeSource)
	}
	for _, body := range stored {
		was := &catalog.AttributeSource{}
		if err := json.Unmarshal(body, was); err != nil {
			return nil, err
		}
		now := declared[was.ID]
		if now == nil {
			declared[was.ID] = was
		} else if now.Attributes.AttributeType != was.Attributes.AttributeType {
			list = append(list, ImportError{Line: c.declared[was.ID].Number, Type: "attribute", Err: store.Invalidf([]string{"attributes", "attribute_type"},
				"must stay %s, because products and nodes may have such values; declare another attribute", was.Attributes.AttributeType)})
		}
	}
	for use, positions := range c.used {
		path := []string{"attributes", "custom_attributes", use.Key}
		var fault *store.Error
		switch source := declared[use.Key]; {
		case source == nil:
			fault = store.Invalidf(path, "is not declared; add a line of the type attribute with the id %q, or call attributesUpsert", use.Key)
		case !source.Fits(use.Shape):
			fault = store.Invalidf(path, "must be a %s, as its declaration says, got a %s", source.Attributes.AttributeType, use.Shape)
		default:
			continue
		}
		for _, at := range positions {
			list = append(list, ImportError{Line: at.line, Type: at.kind, Err: fault})
		}
	}
	slices.SortFunc(list, func(a, b ImportError) int { return a.Line - b.Line })
	return list, nil
}
