//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

// backgroundRow measures rows 1 and 2 without and with background work. The floor shares the core with
// that work, so the ratio shows how far the work blocks reads, not that it uses CPU.
func (b *bench) backgroundRow() (results []rowResult, err error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	for _, row := range []int{1, 2} {
		m := s.readMix(row)
		product, floor, err := b.compare(s.running, m)
		if err != nil {
			return results, err
		}
		share, p99 := product.rate()/floor.rate(), product.p99()
		for _, work := range []struct {
			name string
			do   func(ctx context.Context, s *shop) error
		}{{"codes are created", createCodes}, {"a catalog is published", publishAgain}, {"a job makes codes", generateCodes}} {
			product, floor, err := b.measureDuring(s, m, work.do)
			if err != nil {
				return results, fmt.Errorf("while %s: %w", work.name, err)
			}
			part, slower := product.rate()/floor.rate()/share, float64(product.p99())/float64(p99)
			told := fmt.Sprintf("%.2f of its share, p99 %s: %.1f times", part, roundTime(product.p99()), slower)
			results = append(results, rowResult{fmt.Sprintf("row %d while %s", row, work.name), product, floor, told, verdictOf(part >= 0.8 && slower <= 3)})
		}
	}
	return results, nil
}

// measureDuring compares the server with its floor while work runs.
func (b *bench) measureDuring(s *shop, m mix, work func(context.Context, *shop) error) (product, floor loadStats, err error) {
	ctx, stop := context.WithCancel(b.ctx)
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, s) }()
	time.Sleep(200 * time.Millisecond) // until the work runs
	product, floor, err = b.compare(s.running, m)
	stop()
	if worked := <-ended; err == nil {
		err = worked
	}
	return product, floor, err
}

// createCodes sends the requests of row 12.
func createCodes(ctx context.Context, s *shop) error {
	rest, _ := s.codeRequests()
	l, err := newLoad(s.running, newSingleMix(rest), 8, 201)
	if err != nil {
		return err
	}
	defer l.close()
	if _, err = l.run(ctx, time.Hour); ctx.Err() != nil {
		return nil
	}
	return err
}

// publishInterval is the time from one publication to the next, while they run: with a faster publication, fewer pages must be
// made again, not more.
const publishInterval = 250 * time.Millisecond

// publishAgain changes a node and publishes, until ctx ends.
func publishAgain(ctx context.Context, s *shop) error {
	for n := 0; ctx.Err() == nil; n++ {
		next := time.After(publishInterval)
		if err := s.changeNode(fmt.Sprint("Change ", n, " of ", time.Now().UnixNano())); err != nil {
			return err
		}
		job, err := s.start("catalogPublish", fmt.Sprintf("catalogId: %q", catalogID))
		if err != nil {
			return err
		}
		if err := s.wait(ctx, job); err != nil {
			return err
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
	}
	return nil
}

// generateCodes runs a job that takes longer than the measurement.
func generateCodes(ctx context.Context, s *shop) error {
	job, err := s.start("promotionCodesGenerate", fmt.Sprintf("promotionId: %q, count: 5000000", promotionID))
	if err != nil {
		return err
	}
	<-ctx.Done()
	_, err = send(s.bench.ctx, s.running, s.graphql(fmt.Sprintf(`mutation { jobCancel(input: {id: %q}) { userErrors { message } } }`, job), ""))
	return err
}
