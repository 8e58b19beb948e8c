//go:build linux

package main

import (
	"context"
	"time"
)

// compare measures a mix on the server, and on a floor with its answers.
func (b *bench) compare(server *process, m mix) (product, floor tally, err error) {
	answers, err := record(b.ctx, server, m.requests)
	if err != nil {
		return product, floor, err
	}
	bare, err := startFloor(b.ctx, answers)
	if err != nil {
		return product, floor, err
	}
	defer bare.stop()
	return b.sideBySide(server, m, bare, m, b.connections, answers[0].Status)
}

// sideBySide opens connections to two servers and loads them in turns.
func (b *bench) sideBySide(server *process, m mix, other *process, n mix, connections, status int) (product, floor tally, err error) {
	one, err := newLoad(server, m, connections, status)
	if err != nil {
		return product, floor, err
	}
	defer one.close()
	two, err := newLoad(other, n, connections, status)
	if err != nil {
		return product, floor, err
	}
	defer two.close()
	return b.alternate(one, two)
}

// turns is how often the two sides take turns.
const turns = 8

// alternate loads two servers in turns, so that what else the machine does
// falls on both. The first turn of each is to warm up, and does not count.
func (b *bench) alternate(one, other loader) (product, floor tally, err error) {
	slice := time.Duration(b.seconds / turns * float64(time.Second))
	for turn := range turns + 1 {
		for side, l := range []loader{one, other} {
			t, err := l.run(b.ctx, slice)
			if err != nil {
				return product, floor, err
			}
			if turn > 0 {
				[]*tally{&product, &floor}[side].add(t)
			}
		}
	}
	return product, floor, nil
}

// compareLive is compare while the shop sells.
func (b *bench) compareLive(s *shop, m mix) (product, floor tally, err error) {
	stop := s.sell()
	product, floor, err = b.compare(s.running, m)
	if sold := stop(); err == nil {
		err = sold
	}
	return product, floor, err
}

// sell changes the stock of one product after the other, ten times a second,
// so that numbers which are to be live have to be. stop tells whether it
// worked.
func (s *shop) sell() (stop func() error) {
	ctx, end := context.WithCancel(s.bench.ctx)
	ended := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				ended <- nil
				return
			case <-time.After(100 * time.Millisecond):
			}
			id := s.ids[i%len(s.ids)]
			if err := s.fillStock([]string{id}); err != nil {
				ended <- err
				return
			}
		}
	}()
	return func() error { end(); return <-ended }
}
