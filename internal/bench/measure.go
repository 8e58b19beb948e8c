//go:build linux

package main

import "time"

// compare measures a mix on the server and on a floor with its responses.
func (b *bench) compare(server *process, m mix) (product, floor loadStats, err error) {
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

// sideBySide loads two servers in turns.
func (b *bench) sideBySide(server *process, m mix, other *process, n mix, connections, status int) (product, floor loadStats, err error) {
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

// turns is the number of slices that a measurement of each side has.
const turns = 8

// alternate runs two loads in turns, so that other work of the machine affects both. The first turn of
// each warms up and does not count.
func (b *bench) alternate(one, other loader) (product, floor loadStats, err error) {
	slice := time.Duration(b.seconds / turns * float64(time.Second))
	for turn := range turns + 1 {
		for side, l := range []loader{one, other} {
			t, err := l.run(b.ctx, slice)
			if err != nil {
				return product, floor, err
			}
			if turn > 0 {
				[]*loadStats{&product, &floor}[side].add(t)
			}
		}
	}
	return product, floor, nil
}

// compareLive is compare while stock changes.
func (b *bench) compareLive(s *shop, m mix) (product, floor loadStats, err error) {
	stop := s.sell()
	product, floor, err = b.compare(s.running, m)
	if sold := stop(); err == nil {
		err = sold
	}
	return product, floor, err
}

// measureServer measures a mix on a server, without a floor.
func (b *bench) measureServer(server *process, m mix) (loadStats, error) {
	if _, err := send(b.ctx, server, m.requests[0]); err != nil {
		return loadStats{}, err
	}
	l, err := newLoad(server, m, b.connections, 200)
	if err != nil {
		return loadStats{}, err
	}
	defer l.close()
	return b.measureLoad(l)
}

// measureLoad runs one load, after a turn to warm up.
func (b *bench) measureLoad(l *loadGenerator) (loadStats, error) {
	d := time.Duration(b.seconds * float64(time.Second))
	if _, err := l.run(b.ctx, d/turns); err != nil {
		return loadStats{}, err
	}
	return l.run(b.ctx, d)
}
