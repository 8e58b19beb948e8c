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

// floorCommand runs this program as a floor.
const floorCommand = "floor"

// recordedResponse is a response of the server, which the floor repeats.
type recordedResponse struct {
	Status int
	Header http.Header
	Body   []byte
}

// serveFloor reads responses and serves them by their index, without routes, tokens and log.
func serveFloor(in io.Reader, out io.Writer) error {
	var answers []recordedResponse
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
		number, err := strconv.Atoi(r.Header.Get(slotHeader))
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

// startFloor starts a floor with these responses.
func startFloor(ctx context.Context, answers []recordedResponse) (*process, error) {
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

// record sends every request of a mix once and returns the responses. It returns an error for a response
// that is an error.
func record(ctx context.Context, server *process, requests []loadRequest) ([]recordedResponse, error) {
	answers := make([]recordedResponse, len(requests))
	for i, q := range requests {
		a, err := send(ctx, server, q)
		if err != nil {
			return nil, err
		}
		answers[i] = a
	}
	return answers, nil
}

// send sends one request. It returns an error for a response that is an error.
func send(ctx context.Context, server *process, q loadRequest) (a recordedResponse, err error) {
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
		delete(a.Header, name) // written by net/http
	}
	if a.Status != http.StatusNotModified {
		a.Header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	if a.Status >= 400 || q.hasErrors(a.Body) {
		path, _ := url.PathUnescape(q.path)
		return a, fmt.Errorf("%s %s %.200s: %d %.300s", q.method, path, q.body, a.Status, a.Body)
	}
	return a, nil
}
