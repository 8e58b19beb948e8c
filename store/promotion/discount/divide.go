package discount

import (
	"cmp"
	"math/bits"
	"slices"
)

// divide divides an amount among parts by their size: each gets its share rounded down, and those with
// the largest remainders one more. The amount must be at most the sum of the parts.
func divide(minor int64, parts []int64) []int64 {
	var sum uint64
	for _, part := range parts {
		sum += uint64(part)
	}
	shares := make([]int64, len(parts))
	if sum == 0 {
		return shares
	}
	remainders, left := make([]uint64, len(parts)), minor
	order := make([]int, 0, len(parts))
	for i, part := range parts {
		high, low := bits.Mul64(uint64(minor), uint64(part))
		share, remainder := bits.Div64(high, low, sum)
		shares[i], remainders[i] = int64(share), remainder
		left -= int64(share)
		if part > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainders[b], remainders[a]) })
	for _, i := range order[:left] {
		shares[i]++
	}
	return shares
}
