//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

// publishedPages is the number of pages that publicationRow requests again after a publication.
const publishedPages = 300

// publicationRow requests the same pages, half by REST and half by GraphQL, before and after publications
// that change ten products, and while publications run one after the other.
func (b *bench) publicationRow() (results []rowResult, err error) {
	s, err := b.largeShop()
	if err != nil {
		return nil, err
	}
	if _, err := s.serve(); err != nil {
		return nil, err
	}
	// What other rows left, and the first change of the ten, which changes the order of their lists.
	if err := s.changeAndPublish(); err != nil {
		return nil, err
	}
	inOutlet := func(page func(string, int) loadRequest) []loadRequest {
		requests := newMix(s.pages(page), b.distinct).requests[:publishedPages/2]
		for i := range requests {
			requests[i] = requests[i].with("Store-Channel", outletChannel) // of the catalog that is published
		}
		return requests
	}
	m := newMix(append(inOutlet(s.restPage), inOutlet(s.graphqlPage)...), publishedPages)
	var hot, after loadStats
	tags := make([]string, len(m.requests))
	for warm := range 5 {
		t, _, _, err := s.requestOnce(m.requests, tags)
		if err != nil {
			return nil, err
		}
		if warm > 1 {
			hot.add(t)
		}
	}
	kept, asked := 0, 0
	const rounds = 3
	for range rounds {
		if err := s.changeAndPublish(); err != nil {
			return nil, err
		}
		time.Sleep(time.Second) // until sweeps have run
		t, same, tagged, err := s.requestOnce(m.requests, tags)
		if err != nil {
			return nil, err
		}
		after.add(t)
		kept, asked = kept+same, asked+tagged
	}
	slower, share := after.cost()/hot.cost(), float64(kept)/float64(asked)
	results = append(results,
		rowResult{fmt.Sprintf("first request of hot pages after 10 of %d products changed", s.products), after, hot, fmt.Sprintf("%.2f times", slower), verdictOf(slower <= 1.2)},
		rowResult{name: "ETags that stay", measured: fmt.Sprintf("%.3f of %d", share, asked), verdict: verdictOf(share >= 0.99)})
	quiet, err := b.measureServer(s.running, m)
	if err != nil {
		return results, err
	}
	busy, err := b.measureServerDuring(s, m, publishAgain)
	if err != nil {
		return results, err
	}
	times := float64(busy.p99()) / float64(quiet.p99())
	return append(results, rowResult{"p99 while publications run, 4 a second, against without", busy, quiet,
		fmt.Sprintf("%s, %s: %.1f times", roundTime(busy.p99()), roundTime(quiet.p99()), times), verdictOf(times <= 2)}), nil
}

// measureServerDuring is measureServer while work runs.
func (b *bench) measureServerDuring(s *shop, m mix, work func(context.Context, *shop) error) (loadStats, error) {
	ctx, stop := context.WithCancel(b.ctx)
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, s) }()
	t, err := b.measureServer(s.running, m)
	stop()
	if worked := <-ended; err == nil {
		err = worked
	}
	return t, err
}

// changeAndPublish changes ten products, publishes the catalog and waits for its release.
func (s *shop) changeAndPublish() error {
	if err := s.changeTen(); err != nil {
		return err
	}
	job, err := s.start("catalogPublish", fmt.Sprintf("catalogId: %q", catalogID))
	if err != nil {
		return err
	}
	return s.wait(s.bench.ctx, job)
}

// requestOnce sends each request once, one after the other, and replaces the ETags. same is the number of
// those that stayed, of the tagged responses.
func (s *shop) requestOnce(requests []loadRequest, tags []string) (t loadStats, same, tagged int, err error) {
	begin, spent := time.Now(), cpu(s.running.pid())
	for i, q := range requests {
		started := time.Now()
		a, err := send(s.bench.ctx, s.running, q)
		if err != nil {
			return t, same, tagged, err
		}
		t.requests++
		t.latencies = append(t.latencies, time.Since(started))
		if tag := a.Header.Get("ETag"); tag != "" { // responses to POST have none
			tagged++
			if tag == tags[i] {
				same++
			}
			tags[i] = tag
		}
	}
	t.elapsed, t.cpu = time.Since(begin), cpu(s.running.pid())-spent
	return t, same, tagged, nil
}
