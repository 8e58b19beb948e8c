package plan

import (
	"context"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"

	"portico/internal/heapsize"
)

// Hole leaves a dynamic field of a row out of a response that is to be cached. The field is the last of the path. It returns false
// if the response is not to be cached, and the caller must write the field.
func (r *Run) Hole(_ *Field, row any) bool {
	if r.holes == nil {
		return false
	}
	steps := make([]pathStep, len(r.path))
	for i, element := range r.path {
		steps[i] = pathStep{-1, int32(element.index)}
		if element.field != nil {
			steps[i].field = element.field.ordinal
		}
	}
	r.holes.list = append(r.holes.list, holeSpan{len(r.out), steps, row})
	return true
}

// Len is the number of holes, including nulled ones.
func (h *Holes) Len() int { return len(h.list) + len(h.nulled) }

// Rows calls take with the rows of the holes, in the order of Fill, and drops them. Fill
// gets new rows, because a row belongs to one operation.
func (h *Holes) Rows(take func(row any)) {
	for _, holes := range [][]holeSpan{h.list, h.nulled} {
		for i := range holes {
			take(holes[i].row)
			holes[i].row = nil
		}
	}
}

// nullAfter moves the holes after a position to nulled.
func (h *Holes) nullAfter(mark int) {
	keep := len(h.list)
	for keep > 0 && h.list[keep-1].at > mark {
		keep--
	}
	h.nulled = append(h.nulled, h.list[keep:]...)
	h.list = h.list[:keep]
}

// Size returns the memory of the holes in bytes, without rows.
func (h *Holes) Size() int {
	size := heapsize.Slice(cap(h.list), int(unsafe.Sizeof(holeSpan{}))) + heapsize.Slice(cap(h.nulled), int(unsafe.Sizeof(holeSpan{})))
	for _, holes := range [][]holeSpan{h.list, h.nulled} {
		for i := range holes {
			size += heapsize.Slice(len(holes[i].path), int(unsafe.Sizeof(pathStep{})))
		}
	}
	return size + int(unsafe.Sizeof(Holes{}))
}

// RunWithHoles is Run, but leaves out dynamic fields.
func (n *Runner) RunWithHoles(ctx context.Context, p *Plan, dst []byte) (resp []byte, holes *Holes, err error) {
	holes = &Holes{}
	resp, err = n.run(ctx, &Run{out: dst, holes: holes, runner: n}, p)
	return resp, holes, err
}

// Fill appends a response with its holes filled to dst. row returns the row of each hole, in the order of Rows. The rows are one
// batch. Nulled holes run for their errors, and what they write is dropped.
func (n *Runner) Fill(ctx context.Context, p *Plan, resp []byte, holes *Holes, row func(i int) any, dst []byte) (filled []byte, err error) {
	r := &Run{out: dst, variables: graphql.GetOperationContext(ctx).Variables, runner: n, ctx: ctx}
	defer r.recoverInto(&filled, &err, len(dst))
	fields := p.fieldsByOrdinal()
	r.grow(len(resp))
	from := 0
	for i := range holes.list {
		hole := &holes.list[i]
		r.grow(hole.at - from)
		r.out = append(r.out, resp[from:hole.at]...)
		from = hole.at
		n.fillHole(ctx, r, fields, hole, row(i))
	}
	r.grow(len(resp) - from)
	r.out = append(r.out, resp[from:]...)
	r.checkSize()
	end := r.Mark()
	for i := range holes.nulled {
		n.fillHole(ctx, r, fields, &holes.nulled[i], row(len(holes.list)+i))
		r.out = r.out[:end]
	}
	return r.out, nil
}

// fillHole writes the field of a hole, which is the last of its path.
func (n *Runner) fillHole(ctx context.Context, r *Run, fields []*Field, hole *holeSpan, row any) {
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

// fieldsByOrdinal returns the fields compiled so far.
func (p *Plan) fieldsByOrdinal() []*Field {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fields
}
