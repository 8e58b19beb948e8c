package release

import (
	"context"

	"portico/store"
	"portico/store/index"
)

// matching returns what a term keeps; in the lower layer, dead products too.
func (v *View) matching(ctx context.Context, term store.Term) (index.Posting, error) {
	if term.Attribute == "id" {
		places, err := v.PlacesByID(ctx, term.Values)
		return index.Posting{Ordinals: Ordered(places)}, err
	}
	return v.posting(ctx, term.Attribute, store.Unique(term.Values))
}

// posting finds values in the index of an attribute, in both layers.
func (v *View) posting(ctx context.Context, attribute string, values []string) (p index.Posting, err error) {
	for _, layer := range []*View{v, v.base()} {
		if layer == nil {
			break
		}
		chunks, numbers, err := layer.indexOf(ctx, attribute, values)
		if err != nil {
			return p, err
		}
		for _, value := range values {
			hash := index.Hash(value)
			for _, number := range numbers {
				if run := chunks[number].Find(hash); len(run) > 0 {
					p.Runs = append(p.Runs, run)
				}
			}
		}
	}
	return p, nil
}
