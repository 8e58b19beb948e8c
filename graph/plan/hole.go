package plan

import (
	"context"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"

	"portico/internal/heapsize"
)

// Holes are the live fields that an answer is to be filled with, each time it
// is given; and those whose place became null by an error beside them, which
// are run once more for their own errors. An answer that has such is not kept.
type Holes struct{ list, nulled []hole }

// hole is where a live field is left out. It refers to no plan: an answer may
// be kept for longer than the plan, and is charged without it.
type hole struct {
	at   int // in the answer
	path []pathStep
	row  any
}

// pathStep is a place, whose field is named by its ordinal in the plan; -1 is
// an element of a list.
type pathStep struct{ field, index int32 }

// Hole leaves a live field of a row to be written at each answer, where the
// answer is to be kept.
func (r *Run) Hole(f *Field, row any) bool {
	if r.holes == nil {
		return false
	}
	steps := make([]pathStep, len(r.path))
	for i, place := range r.path {
		steps[i] = pathStep{-1, int32(place.index)}
		if place.field != nil {
			steps[i].field = place.field.ordinal
		}
	}
	r.holes.list = append(r.holes.list, hole{len(r.out), steps, row})
	return true
}

// Len is how many holes there are, with those whose place was taken back.
func (h *Holes) Len() int { return len(h.list) + len(h.nulled) }

// Rows takes the rows that the holes are of, in the order of Fill, and forgets
// them: Fill is given others, for a row belongs to one operation.
func (h *Holes) Rows(take func(row any)) {
	for _, holes := range [][]hole{h.list, h.nulled} {
		for i := range holes {
			take(holes[i].row)
			holes[i].row = nil
		}
	}
}

// nullAfter takes the holes after a position of the answer out of it.
func (h *Holes) nullAfter(mark int) {
	left := len(h.list)
	for left > 0 && h.list[left-1].at > mark {
		left--
	}
	h.nulled = append(h.nulled, h.list[left:]...)
	h.list = h.list[:left]
}

// Size is what the holes take in memory, in bytes, without their rows.
func (h *Holes) Size() int {
	size := heapsize.Slice(cap(h.list), int(unsafe.Sizeof(hole{}))) + heapsize.Slice(cap(h.nulled), int(unsafe.Sizeof(hole{})))
	for _, holes := range [][]hole{h.list, h.nulled} {
		for i := range holes {
			size += heapsize.Slice(len(holes[i].path), int(unsafe.Sizeof(pathStep{})))
		}
	}
	return size + int(unsafe.Sizeof(Holes{}))
}

// RunWithHoles is Run, but for the live fields, which are left out.
func (n *Runner) RunWithHoles(ctx context.Context, p *Plan, dst []byte) (answer []byte, holes *Holes, err error) {
	holes = &Holes{}
	answer, err = n.run(ctx, &Run{out: dst, holes: holes, runner: n}, p)
	return answer, holes, err
}

// Fill appends an answer of a plan to dst with its holes filled, for one
// operation: row gives the row of each hole, side by side with the others.
func (n *Runner) Fill(ctx context.Context, p *Plan, answer []byte, holes *Holes, row func(i int) any, dst []byte) (filled []byte, err error) {
	r := &Run{out: dst, variables: graphql.GetOperationContext(ctx).Variables, runner: n, ctx: ctx}
	defer r.recoverInto(&filled, &err, len(dst))
	ctx = WithSerial(ctx)
	fields := p.fieldsByOrdinal()
	r.grow(len(answer))
	from := 0
	for i := range holes.list {
		hole := &holes.list[i]
		r.grow(hole.at - from)
		r.out = append(r.out, answer[from:hole.at]...)
		from = hole.at
		n.fillHole(ctx, r, fields, hole, row(i))
	}
	r.grow(len(answer) - from)
	r.out = append(r.out, answer[from:]...)
	r.checkSize()
	end := r.Mark()
	for i := range holes.nulled {
		n.fillHole(ctx, r, fields, &holes.nulled[i], row(len(holes.list)+i))
		r.out = r.out[:end]
	}
	return r.out, nil
}

// fillHole writes the field of a hole, the last of its places.
func (n *Runner) fillHole(ctx context.Context, r *Run, fields []*Field, hole *hole, row any) {
	r.path = r.pathBuffer[:0]
	for _, step := range hole.path {
		at := pathElement{nil, int(step.index)}
		if step.field >= 0 {
			at.field = fields[step.field]
		}
		r.path = append(r.path, at)
	}
	f := r.path[len(r.path)-1].field
	if !n.field(ctx, r, f, row) {
		r.Null(f)
	}
}

// fieldsByOrdinal are those that are compiled so far, by their ordinals.
func (p *Plan) fieldsByOrdinal() []*Field {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fields
}
