package store

import "slices"

// Unique keeps the first of each value.
func Unique[T comparable](values []T) []T {
	if len(values) <= 8 {
		kept := slices.Clone(values)[:0]
		for _, v := range values {
			if !slices.Contains(kept, v) {
				kept = append(kept, v)
			}
		}
		return kept
	}
	seen := make(map[T]bool, len(values))
	return slices.DeleteFunc(slices.Clone(values), func(v T) bool {
		before := seen[v]
		seen[v] = true
		return before
	})
}

// Chunked calls do with at most size values at a time.
func Chunked[T any](values []T, size int, do func([]T) error) error {
	for len(values) > 0 {
		n := min(size, len(values))
		if err := do(values[:n]); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

// InBlocks calls do with blocks of most, 32, 4 or 1 values, so that few statements are
// prepared.
func InBlocks[T any](values []T, most int, do func([]T) error) error {
	for _, size := range []int{most, 32, 4, 1} {
		for len(values) >= size {
			if err := do(values[:size]); err != nil {
				return err
			}
			values = values[size:]
		}
	}
	return nil
}

// IndexBy returns values by their keys.
func IndexBy[K comparable, V any](values []V, key func(V) K) map[K]V {
	byKey := make(map[K]V, len(values))
	for _, value := range values {
		byKey[key(value)] = value
	}
	return byKey
}

// SetOf returns the set of values.
func SetOf[T comparable](values []T) map[T]bool {
	set := make(map[T]bool, len(values))
	for _, value := range values {
		set[value] = true
	}
	return set
}
