package release

import (
	"cmp"
	"context"
	"math"
	"slices"

	"portico/store/release/segment"
)

// pathSpan is that a step led to a product or node, or that a path did, from one turn until just before another.
type pathSpan struct {
	kind, id    string
	from, until int64
}

// level is 1 for a product and 0 for a node, whose path wins.
func (s pathSpan) level() int {
	if s.kind == segment.PathProduct {
		return 1
	}
	return 0
}

// pathPlace is what a step goes by. Nodes and products are apart: both may have one slug below one node.
type pathPlace struct {
	aboveID, slug string
	level         int
}

// pathHistory has the spans of the steps with the slugs of a path.
type pathHistory struct {
	slugs []string
	spans map[pathPlace][]pathSpan
}

// pastOf returns what a path led to, and until when, in any order. changes are those of its slugs.
func (v *View) pastOf(ctx context.Context, slugs []string, changes []segment.PathChange) ([]pathSpan, error) {
	h := &pathHistory{slugs, map[pathPlace][]pathSpan{}}
	type step struct {
		pathPlace
		id string
	}
	since := map[step]int64{} // when a step began, or ended last
	for _, c := range changes {
		span := pathSpan{kind: c.Kind, id: c.TargetID, until: c.Turn}
		key := step{pathPlace{c.AboveID, c.Slug, span.level()}, c.TargetID}
		if !c.Came {
			span.from = since[key]
			h.spans[key.pathPlace] = append(h.spans[key.pathPlace], span)
		}
		since[key] = c.Turn
	}
	now := func(kind, aboveID, slug, id string) {
		span := pathSpan{kind: kind, id: id, until: math.MaxInt64}
		place := pathPlace{aboveID, slug, span.level()}
		if spans := h.spans[place]; len(spans) == 0 || spans[len(spans)-1].until < math.MaxInt64 { // else it is hidden
			span.from = since[step{place, id}]
			h.spans[place] = append(spans, span)
		}
	}
	tree, err := v.Tree(ctx)
	if err != nil {
		return nil, err
	}
	for _, slug := range slugs {
		for _, node := range tree.AllWithSlug(slug) {
			kind := segment.PathNode
			if node.IsTop() {
				kind = segment.PathTop
			}
			now(kind, node.ParentID, slug, node.ID)
		}
	}
	last := slugs[len(slugs)-1]
	products, err := v.productsWithSlug(ctx, last)
	if err != nil {
		return nil, err
	}
	for _, product := range products {
		for _, id := range product.NodeIDs() {
			now(segment.PathProduct, id, last, product.id)
		}
	}
	var first []pathSpan
	for place, spans := range h.spans {
		slices.SortStableFunc(spans, func(a, b pathSpan) int { return cmp.Compare(a.until, b.until) })
		for i := range spans[1:] { // a step leads to one at a time, and those that begin below a node that never moved are not stored
			spans[i+1].from = max(spans[i+1].from, spans[i].until)
		}
		if place.slug == slugs[0] && spans[0].kind == segment.PathTop {
			first = append(first, spans...)
		}
	}
	return h.follow(nil, first, 0, 0, math.MaxInt64), nil
}

// follow adds to found what the path leads to from its i-th step on, within two turns.
func (h *pathHistory) follow(found, spans []pathSpan, i int, from, until int64) []pathSpan {
	for _, s := range spans {
		s.from, s.until = max(s.from, from), min(s.until, until)
		switch {
		case s.from >= s.until:
		case i == len(h.slugs)-1:
			found = append(found, s)
		case i == len(h.slugs)-2:
			found = h.follow(found, h.spans[pathPlace{s.id, h.slugs[i+1], 1}], i+1, s.from, s.until)
			fallthrough
		default:
			found = h.follow(found, h.spans[pathPlace{s.id, h.slugs[i+1], 0}], i+1, s.from, s.until)
		}
	}
	return found
}
