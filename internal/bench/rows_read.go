//go:build linux

package main

import (
	"fmt"
	"strings"
)

// readRow compares the mix of a row with its floor while stock changes.
func (b *bench) readRow(number int, goal float64) ([]rowResult, error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	product, floor, err := b.compareLive(s, s.readMix(number))
	if err != nil {
		return nil, err
	}
	return []rowResult{ratio(allRows()[number-1].name, product, floor, goal)}, nil
}

const (
	anonymousPages  = 100 // different requests of anonymousRow
	anonymousTokens = 10  // that each of them is sent with
)

// anonymousRow is row 2 with a thousand implicit tokens: each page is requested with several of them.
func (b *bench) anonymousRow() ([]rowResult, error) {
	s, err := b.shop(b.products)
	if err != nil {
		return nil, err
	}
	if _, err := s.serve("--token-rate-address", "0"); err != nil {
		return nil, err
	}
	var requests []loadRequest
	for _, page := range newMix(s.pages(s.graphqlPage), anonymousPages).requests {
		for range anonymousTokens {
			token, err := s.newToken(fmt.Sprintf(`{"grant_type":"implicit","client_id":%q}`, s.clientID))
			if err != nil {
				return nil, err
			}
			requests = append(requests, page.replace("Authorization", "Bearer "+token))
		}
	}
	product, floor, err := b.compareLive(s, newMix(requests, len(requests)))
	if err != nil {
		return nil, err
	}
	return []rowResult{ratio(fmt.Sprintf("GraphQL pages with live stock, %d implicit tokens", len(requests)), product, floor, 0.75)}, nil
}

// planRow is row 2 without the response cache.
func (b *bench) planRow() ([]rowResult, error) {
	s, err := b.shop(b.products)
	if err != nil {
		return nil, err
	}
	if _, err := s.serve("--response-cache-bytes", "0"); err != nil {
		return nil, err
	}
	product, floor, err := b.compareLive(s, s.readMix(2))
	if err != nil {
		return nil, err
	}
	return []rowResult{ratio("GraphQL, the plan run each time", product, floor, 0.20)}, nil
}

// unseenRow sends the documents of row 2 under a new name each time, to the server and to a server with
// gqlgen's executor.
func (b *bench) unseenRow() ([]rowResult, error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	unseen := s.readMix(2).mapRequests(func(_ int, q loadRequest) loadRequest {
		q.body = strings.Replace(q.body, "query Page(", "query Page"+stamp+"(", 1)
		return q
	})
	oracle, err := b.serve(append(s.flags, "--executor", "gqlgen")...)
	if err != nil {
		return nil, err
	}
	defer oracle.stop()
	product, floor, err := b.sideBySide(s.running, unseen, oracle, unseen, b.connections, 200)
	if err != nil {
		return nil, err
	}
	return []rowResult{ratio("GraphQL, a document never seen (floor: gqlgen's executor)", product, floor, 10)}, nil
}

func (b *bench) stockRow() ([]rowResult, error) {
	results, err := b.readRow(5, 0.65)
	if err != nil {
		return nil, err
	}
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	product, floor, err := b.compareLive(s, s.graphqlStocks())
	if err != nil {
		return nil, err
	}
	results[0].name = "stock list 25, live, REST"
	return append(results, ratio("stock list 25, live, GraphQL", product, floor, 0.60)), nil
}

func (b *bench) overheadRow() (results []rowResult, err error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		name    string
		request loadRequest
		goal    float64
	}{
		{"settings, REST", s.get("/v2/settings"), 0.75},
		{"{ __typename }, GraphQL", s.graphql("{ __typename }", ""), 0.75},
	} {
		product, floor, err := b.compare(s.running, newMix([]loadRequest{c.request}, 1))
		if err != nil {
			return results, err
		}
		results = append(results, ratio(c.name, product, floor, c.goal))
	}
	return results, nil
}

// notModifiedRow requests the pages of row 1 with If-None-Match.
func (b *bench) notModifiedRow() ([]rowResult, error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	full := s.readMix(1)
	answers, err := record(b.ctx, s.running, full.requests)
	if err != nil {
		return nil, err
	}
	if answers[0].Header.Get("ETag") == "" {
		return []rowResult{{name: "304 by ETag, against row 1's floor", measured: "there is no ETag", verdict: missed}}, nil
	}
	floor, err := startFloor(b.ctx, answers)
	if err != nil {
		return nil, err
	}
	defer floor.stop()
	tagged := full.mapRequests(func(i int, q loadRequest) loadRequest { return q.with("If-None-Match", answers[i].Header.Get("ETag")) })
	one, err := newLoad(s.running, tagged, b.connections, 304)
	if err != nil {
		return nil, err
	}
	defer one.close()
	other, err := newLoad(floor, full, b.connections, 200)
	if err != nil {
		return nil, err
	}
	defer other.close()
	product, bare, err := b.alternate(one, other)
	if err != nil {
		return nil, err
	}
	return []rowResult{ratio("304 by ETag, against row 1's floor", product, bare, 1.2)}, nil
}
