//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// slotHeader is the request header with the index of the response that the floor writes, one that all clients send. The server
// ignores it.
const slotHeader = "User-Agent"

// loadRequest is a request of a mix.
type loadRequest struct {
	method, path string
	header       [][2]string
	body         string // each stamp in it becomes a new number
}

// stamp is the placeholder of eight characters that are unique in each place of each request.
const stamp = "@STAMP@@"

func (q loadRequest) with(name, value string) loadRequest {
	if value != "" {
		q.header = append(append([][2]string{}, q.header...), [2]string{name, value})
	}
	return q
}

// replace returns the request with another value of a header that it has.
func (q loadRequest) replace(name, value string) loadRequest {
	q.header = slices.DeleteFunc(slices.Clone(q.header), func(h [2]string) bool { return h[0] == name })
	return q.with(name, value)
}

// hasErrors reports whether the response of a GraphQL request has errors. Its status is always 200.
func (q loadRequest) hasErrors(body []byte) bool {
	return q.path == "/graphql" && (bytes.Contains(body, []byte(`"errors":`)) || bytes.Contains(body, []byte(`"userErrors":[{`)))
}

// http returns the request for net/http's client.
func (q loadRequest) http(ctx context.Context, addr string) (*http.Request, error) {
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

// wireRequest is an encoded request with the positions of its stamps.
type wireRequest struct {
	bytes  []byte
	stamps []int
}

func (q loadRequest) encode(slotNumber int) wireRequest {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: shop.example\r\n%s: %d\r\n", q.method, q.path, slotHeader, slotNumber)
	for _, h := range q.header {
		fmt.Fprintf(&text, "%s: %s\r\n", h[0], h[1])
	}
	if q.method != http.MethodGet {
		fmt.Fprintf(&text, "Content-Length: %d\r\n", len(q.body))
	}
	text.WriteString("\r\n" + q.body)
	w := wireRequest{bytes: []byte(text.String())}
	for from := 0; ; {
		at := bytes.Index(w.bytes[from:], []byte(stamp))
		if at < 0 {
			return w
		}
		w.stamps = append(w.stamps, from+at)
		from += at + len(stamp)
	}
}

// fillStamps writes a new number into each stamp, in no order.
func (w wireRequest) fillStamps(counter *uint32) {
	const digits = "0123456789ABCDEF"
	for _, at := range w.stamps {
		*counter++
		n := *counter * 2654435761
		for i := range len(stamp) {
			w.bytes[at+i] = digits[n>>(28-4*i)&15]
		}
	}
}
