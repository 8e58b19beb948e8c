// Package heapsize estimates the memory of Go values, for the byte budgets of caches. It must not import other packages of this module.
package heapsize

import (
	"math/bits"
	"reflect"
	"unsafe"
)

// Of returns the heap memory, in bytes, that values reach through pointers, slices, maps and strings, each allocation once. The values
// themselves, functions and channels do not count. Strings that share memory count in full.
func Of(values ...any) int {
	w := walker{seen: map[unsafe.Pointer]struct{}{}}
	for _, value := range values {
		w.add(reflect.ValueOf(value))
	}
	return w.bytes
}

// Round returns about the size of the allocation for n bytes: size classes are at most an eighth apart.
func Round(n int) int {
	switch {
	case n <= 8:
		return 8 * min(n, 1)
	case n <= 128:
		return (n + 15) &^ 15
	}
	step := 1 << (bits.Len(uint(n-1)) - 4)
	return (n + step - 1) &^ (step - 1)
}

// Slice returns the size of a backing array of n elements of a size.
func Slice(n, element int) int { return Round(n * element) }

// Map returns the size of a map of n entries, whose keys and values take entry bytes together.
func Map(n, entry int) int {
	const (
		header = 48
		group  = 8 // entries, with a word of control
		table  = 32
	)
	switch {
	case n == 0:
		return header
	case n <= group:
		return header + Round(group*entry+8)
	}
	slots := 1 << bits.Len(uint(n*8/7)) // tables are at most seven eighths full
	return header + Round(table) + Round(slots/group*(group*entry+8))
}

// walker adds up the allocations that it reaches, each once.
type walker struct {
	bytes int
	seen  map[unsafe.Pointer]struct{}
}

// visit reports whether an allocation is new.
func (w *walker) visit(at unsafe.Pointer) bool {
	if _, seen := w.seen[at]; seen || at == nil {
		return false
	}
	w.seen[at] = struct{}{}
	return true
}

// add adds what a value refers to.
func (w *walker) add(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		w.bytes += Round(v.Len())
	case reflect.Interface:
		if held := v.Elem(); held.IsValid() {
			switch held.Kind() {
			case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer: // are in the interface itself
			case reflect.Bool, reflect.Int8, reflect.Uint8: // the runtime has them all
			default:
				w.bytes += Round(int(held.Type().Size()))
			}
			w.add(held)
		}
	case reflect.Pointer:
		if w.visit(v.UnsafePointer()) {
			w.bytes += Round(int(v.Type().Elem().Size()))
			w.add(v.Elem())
		}
	case reflect.Slice:
		if v.Cap() > 0 && w.visit(v.UnsafePointer()) {
			w.bytes += Slice(v.Cap(), int(v.Type().Elem().Size()))
			for i := range v.Len() {
				w.add(v.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			w.add(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.add(v.Field(i))
		}
	case reflect.Map:
		if !v.IsNil() && w.visit(v.UnsafePointer()) {
			of := v.Type()
			w.bytes += Map(v.Len(), int(of.Key().Size()+of.Elem().Size()))
			for entries := v.MapRange(); entries.Next(); {
				w.add(entries.Key())
				w.add(entries.Value())
			}
		}
	}
}
