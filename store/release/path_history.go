package release

import (
	"context"
	"math"

	"portico/store/release/segment"
)

// pathSpan is that a step led to a product or node, or that a path did, from one turn until just before another.
type pathSpan struct {
	kind, id    string
	from, until int64
}

// pathPlace is what a step goes by. Nodes and products are apart: both may have one slug below one node.
type pathPlace struct {
	aboveID, slug string
	product       bool
}

// pathHistory has the spans of the steps with the slugs of a path.
type pathHistory struct {
	slugs []string
	spans map[pathPlace][]pathSpan
}

// pastOf returns what a path led to, and what had its slugs anywhere, and until when, in any order.
func (v *View) pastOf(ctx context.Context, slugs []string) (past, anywhere []pathSpan, err error) {
	v.ReadValues("slug", slugs)
	now := segment.PathChange{Turn: math.MaxInt64}
	until := now.Turn
	if v.shopper.ReleaseID != "" { // such a view shows the same for ever
		until = v.Release.ID
	}
	changes, err := v.PathChanges(ctx, slugs, until)
	if err != nil || len(changes) == 0 {
		return nil, nil, err
	}
	h := &pathHistory{slugs, map[pathPlace][]pathSpan{}}
	since := map[segment.PathChange]int64{} // when a step, which has no turn, began, or ended last
	change := func(c segment.PathChange) {
		place, step := pathPlace{c.AboveID, c.Slug, c.Kind == segment.PathProduct}, c
		step.Turn, step.Came = 0, false
		if spans := h.spans[place]; !c.Came {
			from := since[step]
			if n := len(spans); n > 0 { // a step leads to one at a time, and those that begin below a node that never moved are not stored
				from = max(from, spans[n-1].until)
			}
			h.spans[place] = append(spans, pathSpan{c.Kind, c.TargetID, from, c.Turn})
		}
		since[step] = c.Turn
	}
	for _, c := range changes {
		if change(c); !c.Came {
			anywhere = append(anywhere, pathSpan{kind: c.Kind, id: c.TargetID, until: c.Turn})
		}
	}
	tree, err := v.Tree(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, now.Slug = range slugs {
		for _, node := range tree.AllWithSlug(now.Slug) {
			now.Kind, now.AboveID, now.TargetID = node.PathKind(), node.ParentID, node.ID
			change(now)
		}
	}
	products, err := v.productsWithSlug(ctx, now.Slug)
	if err != nil {
		return nil, nil, err
	}
	for _, product := range products {
		for _, now.AboveID = range product.NodeIDs() {
			now.Kind, now.TargetID = segment.PathProduct, product.id
			change(now)
		}
	}
	for place, spans := range h.spans {
		if place.slug == slugs[0] && spans[0].kind == segment.PathFirst {
			past = h.follow(past, spans, 0, 0, math.MaxInt64)
		}
	}
	return past, anywhere, nil
}

// follow adds to found what the path leads to from its i-th step on, within two turns.
func (h *pathHistory) follow(found, spans []pathSpan, i int, from, until int64) []pathSpan {
	for _, s := range spans {
		s.from, s.until = max(s.from, from), min(s.until, until)
		switch {
		case s.from >= s.until:
		case i == len(h.slugs)-1:
			found = append(found, s)
		case s.kind != segment.PathProduct: // which leads no further
			for _, product := range []bool{false, true} {
				found = h.follow(found, h.spans[pathPlace{s.id, h.slugs[i+1], product}], i+1, s.from, s.until)
			}
		}
	}
	return found
}
