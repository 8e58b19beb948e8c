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

// profileTime is the duration of the profile.
const profileTime = 40 * time.Second

// profile writes a CPU profile of the server under the load of rows 1, 2 and 5 to a file, for go build -pgo.
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
		if _, err := b.measureServer(server, mixes[turn%len(mixes)]); err != nil {
			return err
		}
	}
}

// fetch writes the body of a response to a file.
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
