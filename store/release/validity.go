package release

import (
	"strconv"
	"sync/atomic"
	"time"

	"portico/store"
)

// validity is for how long what was read through a view is as it was: from
// the last edge of a sale that mattered until just before the next.
type validity struct {
	from, until atomic.Int64 // microseconds; 0 is ever
	moot        atomic.Bool  // some of it is not of the view's release
}

// narrow says that something read holds from one moment until just before
// another; 0 is ever.
func (h *validity) narrow(from, until int64) {
	for old := h.from.Load(); from > old && !h.from.CompareAndSwap(old, from); old = h.from.Load() {
	}
	for old := h.until.Load(); until != 0 && (old == 0 || until < old) && !h.until.CompareAndSwap(old, until); old = h.until.Load() {
	}
}

// Holds tells for how long an answer that was read through the view so far
// stays as it is: from a moment until just before another, where zero is ever.
// keep is false when it is of another release too, into which a cursor led.
//
// What is not released is not counted: stock, and all else that is live.
func (v *View) Holds() (from, until time.Time, keep bool) {
	if at := v.valid.from.Load(); at != 0 {
		from = store.FromMicros(at)
	}
	if at := v.valid.until.Load(); at != 0 {
		until = store.FromMicros(at)
	}
	return from, until, !v.valid.moot.Load()
}

// Now is the view's moment, which decides the prices.
func (v *View) Now() time.Time { return v.now }

// AppendKey appends all that an answer read through the view follows from, but
// for what is asked and the clock: the release, by an identity that a restored
// database does not repeat, languages, currency, and the length of a page. Two
// views with one key show the same for as long as Holds says, whosever they
// are; so the key names no shopper.
func (v *View) AppendKey(dst []byte) []byte {
	id := v.Release.identity()
	dst = strconv.AppendInt(dst, id.Number, 36)
	dst = strconv.AppendInt(append(dst, '@'), id.Published, 36)
	dst = strconv.AppendInt(append(dst, '@'), v.epoch, 36)
	dst = append(append(dst, ';'), v.name...)
	dst = strconv.AppendInt(append(dst, ';'), int64(v.pageLength), 10)
	return append(dst, ';')
}
