//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

// besideRow measures rows 1 and 2 alone, and again while the server has other
// work. The floor then shares the core with that work too, so that the share
// of the floor tells how far the work is in the way of reading, not that it
// needs the core.
func (b *bench) besideRow() (results []result, err error) {
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
			product, floor, err := b.during(s, m, work.do)
			if err != nil {
				return results, fmt.Errorf("while %s: %w", work.name, err)
			}
			part, slower := product.rate()/floor.rate()/share, float64(product.p99())/float64(p99)
			told := fmt.Sprintf("%.2f of its share, p99 %s: %.1f times", part, round(product.p99()), slower)
			results = append(results, result{fmt.Sprintf("row %d while %s", row, work.name), product, floor, told, reached(part >= 0.8 && slower <= 3)})
		}
	}
	return results, nil
}

// during measures a mix while work is done, again and again.
func (b *bench) during(s *shop, m mix, work func(context.Context, *shop) error) (product, floor tally, err error) {
	ctx, stop := context.WithCancel(b.ctx)
	ended := make(chan error, 1)
	go func() { ended <- work(ctx, s) }()
	time.Sleep(200 * time.Millisecond) // for the work to be under way
	product, floor, err = b.compare(s.running, m)
	stop()
	if worked := <-ended; err == nil {
		err = worked
	}
	return product, floor, err
}

// createCodes is row 12.
func createCodes(ctx context.Context, s *shop) error {
	rest, _ := s.codeRequests()
	l, err := newLoad(s.running, single(rest), 8, 201)
	if err != nil {
		return err
	}
	defer l.close()
	if _, err = l.run(ctx, time.Hour); ctx.Err() != nil {
		return nil
	}
	return err
}

// started is a job as it began.
type started struct {
	Data map[string]struct {
		Job struct{ ID string }
	}
}

// start runs a mutation that makes a job, and returns the job.
func (s *shop) start(mutation, input string) (job string, err error) {
	var answer started
	q := s.graphql(fmt.Sprintf(`mutation { %s(input: {%s}) { job { id } userErrors { message } } }`, mutation, input), "")
	if err := s.read(q, &answer); err != nil {
		return "", err
	}
	return answer.Data[mutation].Job.ID, nil
}

// wait waits until a job has ended well.
func (s *shop) wait(ctx context.Context, job string) error {
	var answer struct {
		Data struct{ Job struct{ State, Error string } }
	}
	for ctx.Err() == nil {
		if err := s.read(s.graphql(fmt.Sprintf(`{ job(id: %q) { state error } }`, job), ""), &answer); err != nil {
			return err
		}
		switch answer.Data.Job.State {
		case "SUCCEEDED":
			return nil
		case "FAILED", "CANCELED":
			return fmt.Errorf("the job has %s: %s", answer.Data.Job.State, answer.Data.Job.Error)
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// publishAgain changes a node and publishes, again and again.
func publishAgain(ctx context.Context, s *shop) error {
	for n := 0; ctx.Err() == nil; n++ {
		if err := s.touch(fmt.Sprint("Change ", n, " of ", time.Now().UnixNano())); err != nil {
			return err
		}
		job, err := s.start("catalogPublish", fmt.Sprintf("catalogId: %q", catalog))
		if err != nil {
			return err
		}
		if err := s.wait(ctx, job); err != nil {
			return err
		}
	}
	return nil
}

// touch gives a node another description.
func (s *shop) touch(description string) error {
	_, err := ask(s.bench.ctx, s.running, s.graphql(fmt.Sprintf(`mutation { nodeUpdate(input: {id: %q, description: %q}) { userErrors { message } } }`, s.nodes[0].id, description), ""))
	return err
}

// generateCodes is a job that is longer than the measurement.
func generateCodes(ctx context.Context, s *shop) error {
	job, err := s.start("promotionCodesGenerate", fmt.Sprintf("promotionId: %q, count: 5000000", promotion))
	if err != nil {
		return err
	}
	<-ctx.Done()
	_, err = ask(s.bench.ctx, s.running, s.graphql(fmt.Sprintf(`mutation { jobCancel(input: {id: %q}) { userErrors { message } } }`, job), ""))
	return err
}
