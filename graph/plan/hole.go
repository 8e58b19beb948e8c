package plan

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
)

// Holes are the live fields that an answer is to be filled with, each time it
// is given; and those whose place became null by an error beside them, which
// are run once more for their own errors. An answer that has such is not kept.
type Holes struct{ list, taken []hole }

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

// Len is how many holes there are, with those whose place was taken back.
func (h *Holes) Len() int { return len(h.list) + len(h.taken) }

// Rows takes the rows that the holes are of, in the order of Fill, and forgets
// them: Fill is given others, for a row belongs to one operation.
func (h *Holes) Rows(take func(row any)) {
	for _, holes := range [][]hole{h.list, h.taken} {
		for i := range holes {
			take(holes[i].row)
			holes[i].row = nil
		}
	}
}

// cut takes the holes after a position of the answer out of it.
func (h *Holes) cut(mark int) {
	left := len(h.list)
	for left > 0 && h.list[left-1].at > mark {
		left--
	}
	h.taken = append(h.taken, h.list[left:]...)
	h.list = h.list[:left]
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
	r := &Run{answer: dst, variables: graphql.GetOperationContext(ctx).Variables, runner: n, ctx: ctx}
	defer r.recoverInto(&filled, &err, len(dst))
	ctx = Serial(ctx)
	r.grow(len(answer))
	from := 0
	for i := range holes.list {
		hole := &holes.list[i]
		r.grow(hole.at - from)
		r.answer = append(r.answer, answer[from:hole.at]...)
		from = hole.at
		n.fill(ctx, r, hole, row(i))
	}
	r.grow(len(answer) - from)
	r.answer = append(r.answer, answer[from:]...)
	r.check()
	end := r.Mark()
	for i := range holes.taken {
		n.fill(ctx, r, &holes.taken[i], row(len(holes.list)+i))
		r.answer = r.answer[:end]
	}
	return r.answer, nil
}

// fill writes the field of a hole.
func (n *Runner) fill(ctx context.Context, r *Run, hole *hole, row any) {
	r.places = append(r.steps[:0], hole.places...)
	if !n.field(ctx, r, hole.field, row) {
		r.Null(hole.field)
	}
}
