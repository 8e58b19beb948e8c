//go:build linux

package main

import (
	"math/rand/v2"
	"sort"
)

// mix is a set of requests with the order in which they are sent.
type mix struct {
	requests []loadRequest
	order    []int
}

// newMix selects distinct requests at random. Their frequency follows Zipf's law: the first is sent twice
// as often as the second, and three times as often as the third.
func newMix(requests []loadRequest, distinct int) mix {
	r := rand.New(rand.NewPCG(1, 2))
	m := mix{requests: append([]loadRequest{}, requests...)}
	r.Shuffle(len(m.requests), func(i, j int) { m.requests[i], m.requests[j] = m.requests[j], m.requests[i] })
	m.requests = m.requests[:min(distinct, len(m.requests))]
	total, sums := 0.0, make([]float64, len(m.requests))
	for i := range sums {
		total += 1 / float64(i+1)
		sums[i] = total
	}
	m.order = make([]int, 1<<16)
	for i := range m.order {
		m.order[i] = sort.SearchFloat64s(sums, r.Float64()*total)
	}
	return m
}

// evenly returns the mix with equal frequencies.
func (m mix) evenly() mix {
	r := rand.New(rand.NewPCG(3, 4))
	even := mix{m.requests, make([]int, len(m.order))}
	for i := range even.order {
		even.order[i] = r.IntN(len(m.requests))
	}
	return even
}

// mapRequests returns the mix with every request changed.
func (m mix) mapRequests(change func(i int, q loadRequest) loadRequest) mix {
	changed := mix{make([]loadRequest, len(m.requests)), m.order}
	for i, q := range m.requests {
		changed.requests[i] = change(i, q)
	}
	return changed
}

// newSingleMix returns a mix of one request.
func newSingleMix(q loadRequest) mix { return newMix([]loadRequest{q}, 1) }
