//go:build linux

package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"time"
)

// codesRow measures the creation of codes. It compares requests with plain inserts of the same rows, in a database of the same schema.
func (b *bench) codesRow() (results []rowResult, err error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.folder, fmt.Sprintf("bare-%d.db", time.Now().UnixNano()))
	defer removeDatabase(file)
	if _, _, err := b.command("", "migrate", "--database-url", "file:"+file); err != nil {
		return nil, err
	}
	bare, err := startSQLFloor(b.ctx, "codes", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	defer bare.stop()
	rest, graphql := s.codeRequests()
	for _, side := range []struct {
		name   string
		q      loadRequest
		status int
		goal   float64
	}{{"REST", rest, 201, 0.6}, {"GraphQL", graphql, 200, 0.5}} {
		before, err := s.countCodes()
		if err != nil {
			return results, err
		}
		l, err := newLoad(s.running, newSingleMix(side.q), 8, side.status)
		if err != nil {
			return results, err
		}
		product, floor, err := b.alternate(l, bare)
		l.close()
		if err != nil {
			return results, err
		}
		if after, err := s.countCodes(); err != nil || after < before+1000*product.requests {
			return results, fmt.Errorf("%d requests by %s created %d codes: %w", product.requests, side.name, after-before, cmp.Or(err, errNotCreated))
		}
		r := ratio(fmt.Sprintf("1,000 codes a request, durable, 8 clients, %s (%.0f codes/s)", side.name, 1000*product.rate()), product, floor, side.goal)
		results = append(results, r)
	}
	return results, nil
}

// allocateRow measures allocations of many products against a fixed goal, without a floor.
func (b *bench) allocateRow() ([]rowResult, error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	ids := s.ids[:min(len(s.ids), 1000, b.distinct)]
	if err := s.fillStock(ids); err != nil {
		return nil, err
	}
	var requests []loadRequest
	for _, id := range ids {
		requests = append(requests, s.allocation(id))
	}
	l, err := newLoad(s.running, newMix(requests, len(requests)), 32, 201)
	if err != nil {
		return nil, err
	}
	defer l.close()
	t, err := b.measureLoad(l)
	if err != nil {
		return nil, err
	}
	told := fmt.Sprintf("%.0f/s, p99 %s", t.rate(), roundTime(t.p99()))
	return []rowResult{{"allocate, durable, 32 clients", t, loadStats{}, told, verdictOf(t.rate() >= 12_000 && t.p99() <= 8*time.Millisecond)}}, nil
}

// hotRow compares allocations of one product with plain updates of one row, each committed alone, over
// the same number of connections.
func (b *bench) hotRow() ([]rowResult, error) {
	s, err := b.postgresShop(200)
	if err != nil {
		return nil, err
	}
	if _, err := s.serve("--readers", "32"); err != nil {
		return nil, err
	}
	hot := s.ids[:1]
	if err := s.fillStock(hot); err != nil {
		return nil, err
	}
	if err := createHotTable(s.url); err != nil {
		return nil, err
	}
	bare, err := startSQLFloor(b.ctx, "updates", s.url)
	if err != nil {
		return nil, err
	}
	defer bare.stop()
	l, err := newLoad(s.running, newSingleMix(s.allocation(hot[0])), 32, 201)
	if err != nil {
		return nil, err
	}
	defer l.close()
	product, floor, err := b.alternate(l, bare)
	if err != nil {
		return nil, err
	}
	r := ratio("allocate one hot product, PostgreSQL (floor: plain updates)", product, floor, 10)
	r.measured += ", p99 " + roundTime(product.p99())
	return []rowResult{r}, nil
}
