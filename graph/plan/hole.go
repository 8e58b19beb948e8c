package plan

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
)

// Holes are the live fields that an answer is to be filled with, each time it
// is given.
type Holes struct{ list []hole }

// hole is where a live field is left out.
type hole struct {
	at     int // in the answer
	field  *Field
	places []place
	row    any
}

// Hole leaves a live field of a row to be written at each answer, where the
// answer is to be kept.
func (r *Run) Hole(f *Field, row any) bool {
	if r.holes == nil {
		return false
	}
	r.holes.list = append(r.holes.list, hole{len(r.answer), f, slices.Clone(r.places), row})
	return true
}

// Len is how many holes there are.
func (h *Holes) Len() int { return len(h.list) }

// Rows takes the rows that the holes are of, in their order, and forgets them:
// Fill is given others, for a row belongs to one operation.
func (h *Holes) Rows(take func(row any)) {
	for i := range h.list {
		take(h.list[i].row)
		h.list[i].row = nil
	}
}

// Size is what the holes take in memory, in bytes, about.
func (h *Holes) Size() int {
	size := 64
	for _, hole := range h.list {
		size += 96 + 24*len(hole.places)
	}
	return size
}

// RunWithHoles is Run, but for the live fields, which are left out.
func (n *Runner) RunWithHoles(ctx context.Context, p *Plan, dst []byte) (answer []byte, holes *Holes, err error) {
	holes = &Holes{}
	answer, err = n.run(ctx, &Run{answer: dst, holes: holes, runner: n}, p)
	return answer, holes, err
}

// Fill appends an answer to dst with its holes filled, for one operation: row
// gives the row of each hole, side by side with the others.
func (n *Runner) Fill(ctx context.Context, answer []byte, holes *Holes, row func(i int) any, dst []byte) (filled []byte, err error) {
	r := &Run{answer: dst, variables: graphql.GetOperationContext(ctx).Variables, runner: n}
	defer r.recoverInto(&filled, &err, len(dst))
	ctx = Serial(ctx)
	from := 0
	for i := range holes.list {
		hole := &holes.list[i]
		r.answer = append(r.answer, answer[from:hole.at]...)
		from = hole.at
		r.places = append(r.steps[:0], hole.places...)
		if !n.field(ctx, r, hole.field, row(i)) {
			r.Null(hole.field)
		}
	}
	return append(r.answer, answer[from:]...), nil
}
