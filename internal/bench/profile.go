//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// profileTime is how long the server is watched.
const profileTime = 40 * time.Second

// profile writes what the server spends its time on while it is asked for
// pages, searches and stock, in turns, for builds to be made faster by (go build
// -pgo).
func (b *bench) profile(file string) error {
	s, err := b.shop(b.products)
	if err != nil {
		return err
	}
	admin, err := freeAddress()
	if err != nil {
		return err
	}
	server, err := s.serve("--admin-addr", admin)
	if err != nil {
		return err
	}
	watched := make(chan error, 1)
	go func() {
		watched <- fetch(b.ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, int(profileTime.Seconds())), file)
	}()
	mixes := []mix{s.readMix(1), s.readMix(2), s.graphqlStocks(), s.readMix(5)}
	for turn := 0; ; turn++ {
		select {
		case err := <-watched:
			return err
		default:
		}
		if _, err := b.alone(server, mixes[turn%len(mixes)]); err != nil {
			return err
		}
	}
}

// fetch writes an answer into a file.
func fetch(ctx context.Context, address, file string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", address, answer.Status, text)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
