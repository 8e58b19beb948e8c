package server_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/web/middleware"
	"portico/internal/web/server"
)

// running is a server under test.
type running struct {
	url  string
	stop context.CancelFunc // starts the shutdown
	end  chan error         // result of Serve
}

func start(t *testing.T, handler http.Handler, options ...server.Option) *running {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	s := &running{"http://" + listener.Addr().String(), stop, make(chan error, 1)}
	go func() { s.end <- server.Serve(ctx, listener, handler, slog.New(slog.DiscardHandler), options...) }()
	return s
}

func get(t *testing.T, url string) (int, string, error) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer func() { require.NoError(t, response.Body.Close()) }()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

func TestShutdownWaitsForRequests(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-server.Draining(r.Context()) // shutdown has begun
		<-leave
		require.NoError(t, r.Context().Err(), "the request outlives the server's context")
		_, _ = io.WriteString(w, "whole")
	}))
	answered := make(chan string, 1)
	go func() {
		_, body, err := get(t, s.url)
		if err != nil {
			body = err.Error()
		}
		answered <- body
	}()
	<-entered
	s.stop()
	close(leave)
	require.Equal(t, "whole", <-answered)
	require.NoError(t, <-s.end)
	_, _, err := get(t, s.url)
	require.Error(t, err, "the door is shut")
}

func TestReadyFailsDuringShutdown(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	mux := http.NewServeMux()
	mux.Handle("/readyz", middleware.Ready(func(context.Context) error { return nil }, func() error { return nil }))
	mux.HandleFunc("/hold", func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-server.Draining(r.Context())
	})
	s := start(t, mux, server.WithLinger(time.Hour)) // longer than the test
	status, _, err := get(t, s.url+"/readyz")
	require.NoError(t, err)
	require.Equal(t, 200, status)
	held := make(chan error, 1)
	go func() { _, _, err := get(t, s.url+"/hold"); held <- err }()
	<-entered
	s.stop()
	require.NoError(t, <-held)
	status, body, err := get(t, s.url+"/readyz")
	require.NoError(t, err)
	require.Equal(t, 503, status)
	require.JSONEq(t, `{"status":"unavailable","detail":"The server is shutting down."}`, body)
}

func TestShutdownCancelsLongRequests(t *testing.T) {
	t.Parallel()
	entered, left := make(chan struct{}), make(chan struct{})
	s := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
		close(left)
	}), server.WithDrainTimeout(time.Millisecond))
	answered := make(chan error, 1)
	go func() { _, _, err := get(t, s.url); answered <- err }()
	<-entered
	s.stop()
	require.NoError(t, <-s.end)
	<-left
	<-answered // an error or an empty response
}

func TestServeReturnsListenError(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	require.ErrorContains(t, server.Serve(t.Context(), listener, http.NotFoundHandler(), slog.New(slog.DiscardHandler)),
		listener.Addr().String())
}

func TestDrainingIsNilOutsideOfServe(t *testing.T) { require.Nil(t, server.Draining(t.Context())) }
