//go:build linux

package main

import (
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
)

// floorCommand is the role of the floor.
const floorCommand = "floor"

// slot is the header by which the floor knows which answer to write; the
// product passes over it.
const slot = "Bench-Slot"

// response is what the product said, and the floor says after it.
type response struct {
	Status int
	Header http.Header
	Body   []byte
}

// serveFloor reads answers and serves them by their slots: no routes, no
// tokens, no log.
func serveFloor(in io.Reader, out io.Writer) error {
	var answers []response
	if err := gob.NewDecoder(in).Decode(&answers); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, listener.Addr())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		number, err := strconv.Atoi(r.Header.Get(slot))
		if err != nil || number >= len(answers) {
			http.Error(w, "no such slot", http.StatusNotFound)
			return
		}
		answer := &answers[number]
		header := w.Header()
		for name, values := range answer.Header {
			header[name] = values
		}
		w.WriteHeader(answer.Status)
		_, _ = w.Write(answer.Body)
	}))
}

// startFloor starts a floor with these answers.
func startFloor(ctx context.Context, answers []response) (*process, error) {
	c, err := startChild(ctx, floorCommand)
	if err != nil {
		return nil, err
	}
	err = gob.NewEncoder(c.in).Encode(answers)
	if err == nil {
		c.addr, err = c.line()
	}
	if err != nil {
		c.stop()
		return nil, err
	}
	return &c.process, nil
}

// record asks the product for every answer of a mix, once. It refuses what is
// no success: errors are quickly written.
func record(ctx context.Context, server *process, requests []request) ([]response, error) {
	answers := make([]response, len(requests))
	for i, q := range requests {
		a, err := ask(ctx, server, q)
		if err != nil {
			return nil, err
		}
		answers[i] = a
	}
	return answers, nil
}

// ask sends one request.
func ask(ctx context.Context, server *process, q request) (a response, err error) {
	r, err := q.http(ctx, server.addr)
	if err != nil {
		return a, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	if a.Body, err = io.ReadAll(response.Body); err != nil {
		return a, err
	}
	a.Status, a.Header = response.StatusCode, response.Header
	for _, name := range []string{"Date", "Connection", "Transfer-Encoding"} {
		delete(a.Header, name) // net/http's own
	}
	if a.Status != http.StatusNotModified {
		a.Header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	if a.Status >= 400 || q.refused(a.Body) {
		path, _ := url.PathUnescape(q.path)
		return a, fmt.Errorf("%s %s %.200s: %d %.300s", q.method, path, q.body, a.Status, a.Body)
	}
	return a, nil
}
