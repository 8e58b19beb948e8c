package plan

import (
	"context"
	"slices"
)

// Size returns the memory of the object in bytes.
func (f *CachedObject) Size() int { return 96 + cap(f.body) + 24*cap(f.gaps) }

// Cacheable reports whether objects with these fields are cached.
func (r *Run) Cacheable(fields *Fields) bool {
	return r.runner.cache != nil && fields.cacheable >= minCachedFields
}

// CachedObject writes an object from the cache, or writes and caches it. It returns
// false if the object is null.
func (r *Run) CachedObject(ctx context.Context, fields *Fields, row any) bool {
	id, known := r.runner.cache.Identity(ctx, row, fields.edges)
	if !known {
		valid, mark := true, r.Mark()
		for i := range fields.List {
			valid = r.writeField(ctx, &fields.List[i], row) && valid
		}
		return r.Close(mark, valid)
	}
	if cached := r.runner.cache.Get(fields.id, id); cached != nil {
		return r.writeCached(ctx, fields, cached, row)
	}
	object, valid := r.writeAndCache(ctx, fields, row)
	if object != nil {
		r.runner.cache.Put(fields.id, id, object)
	}
	return valid
}

// writeField writes a field of a row. It returns false if that makes the row null.
func (r *Run) writeField(ctx context.Context, f *Field, row any) bool {
	r.Begin(f)
	valid := r.runner.field(ctx, r, f, row) || r.Null(f)
	r.End()
	return valid
}

// writeCached writes a cached object, and the fields in its gaps.
func (r *Run) writeCached(ctx context.Context, fields *Fields, cached *CachedObject, row any) bool {
	mark, valid, from := r.Mark(), true, 0
	for _, gap := range cached.gaps {
		f := &fields.List[gap.field]
		if f.cached && r.runner.cache.Charge(ctx, row, f.collected.Name) {
			continue
		}
		r.grow(gap.at - from)
		r.out = append(r.out, cached.body[from:gap.at]...)
		from = gap.end
		valid = r.writeField(ctx, f, row) && valid
	}
	r.grow(len(cached.body) - from)
	r.out = append(r.out, cached.body[from:]...)
	if !valid {
		r.truncate(mark)
	}
	return valid
}

// maxCachedObject is the largest cached object, in bytes.
const maxCachedObject = 256 << 10

// writeAndCache writes an object and returns it for the cache. It returns nil after an
// error, or if the object is too large.
func (r *Run) writeAndCache(ctx context.Context, fields *Fields, row any) (object *CachedObject, valid bool) {
	mark, sound := r.Mark(), true
	object, valid = &CachedObject{}, true
	from := mark
	for i := range fields.List {
		f := &fields.List[i]
		start, errorsBefore := r.Mark(), r.errorCount
		valid = r.writeField(ctx, f, row) && valid
		if f.cached {
			sound = sound && r.errorCount == errorsBefore
			if f.info.Cached {
				at := len(object.body) + start - from
				object.gaps = append(object.gaps, gapSpan{at, at + r.Mark() - start, i})
			}
			continue
		}
		if sound = sound && len(object.body)+start-from <= maxCachedObject; !sound {
			continue
		}
		object.body = append(object.body, r.out[from:start]...)
		object.gaps = append(object.gaps, gapSpan{len(object.body), len(object.body), i})
		from = r.Mark()
	}
	if valid = r.Close(mark, valid); !valid || !sound || len(object.body)+r.Mark()-from > maxCachedObject {
		return nil, valid
	}
	object.body = slices.Clip(append(object.body, r.out[from:]...))
	return object, true
}
