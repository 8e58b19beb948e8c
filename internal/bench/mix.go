//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sort"
	"strings"
)

// request is one of a mix.
type request struct {
	method, path string
	header       [][2]string
	body         string // stamp in it is another number each time
}

// stamp stands for eight characters that are different in each request, and
// in each place of one.
const stamp = "@STAMP@@"

func (q request) with(name, value string) request {
	if value != "" {
		q.header = append(append([][2]string{}, q.header...), [2]string{name, value})
	}
	return q
}

// refused tells whether a GraphQL answer, which is always 200, is none.
func (q request) refused(body []byte) bool {
	return q.path == "/graphql" && (bytes.Contains(body, []byte(`"errors":`)) || bytes.Contains(body, []byte(`"userErrors":[{`)))
}

// http is the request for net/http's client.
func (q request) http(ctx context.Context, addr string) (*http.Request, error) {
	body := strings.NewReader(strings.ReplaceAll(q.body, stamp, "00000000"))
	r, err := http.NewRequestWithContext(ctx, q.method, "http://"+addr+q.path, body)
	if err != nil {
		return nil, err
	}
	for _, h := range q.header {
		r.Header.Set(h[0], h[1])
	}
	return r, nil
}

// wire is the request as it is sent on a connection, and where its stamps are.
type wire struct {
	bytes  []byte
	stamps []int
}

func (q request) wire(slotNumber int) wire {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: shop.example\r\n%s: %d\r\n", q.method, q.path, slot, slotNumber)
	for _, h := range q.header {
		fmt.Fprintf(&text, "%s: %s\r\n", h[0], h[1])
	}
	if q.method != http.MethodGet {
		fmt.Fprintf(&text, "Content-Length: %d\r\n", len(q.body))
	}
	text.WriteString("\r\n" + q.body)
	w := wire{bytes: []byte(text.String())}
	for from := 0; ; {
		at := bytes.Index(w.bytes[from:], []byte(stamp))
		if at < 0 {
			return w
		}
		w.stamps = append(w.stamps, from+at)
		from += at + len(stamp)
	}
}

// number writes the stamps: each number once, in no order.
func (w wire) number(counter *uint32) {
	const digits = "0123456789ABCDEF"
	for _, at := range w.stamps {
		*counter++
		n := *counter * 2654435761
		for i := range len(stamp) {
			w.bytes[at+i] = digits[n>>(28-4*i)&15]
		}
	}
}

// mix is requests in a random order of popularity, and the order in which
// they are sent.
type mix struct {
	requests []request
	order    []int
}

// newMix takes so many of the requests. They are asked for by Zipf's law: the
// most popular twice as often as the second, three times as often as the third.
func newMix(requests []request, distinct int) mix {
	r := rand.New(rand.NewPCG(1, 2))
	m := mix{requests: append([]request{}, requests...)}
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

// evenly is the mix with each request as popular as the others.
func (m mix) evenly() mix {
	r := rand.New(rand.NewPCG(3, 4))
	even := mix{m.requests, make([]int, len(m.order))}
	for i := range even.order {
		even.order[i] = r.IntN(len(m.requests))
	}
	return even
}

// each changes every request.
func (m mix) each(change func(i int, q request) request) mix {
	changed := mix{make([]request, len(m.requests)), m.order}
	for i, q := range m.requests {
		changed.requests[i] = change(i, q)
	}
	return changed
}
