//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// codeRequests are a thousand codes, by both surfaces; new ones at each call.
func (s *shop) codeRequests() (rest, graphql request) {
	batch := strconv.FormatInt(time.Now().UnixNano(), 36)
	var members, inputs strings.Builder
	for i := range 1000 {
		if i > 0 {
			members.WriteByte(',')
			inputs.WriteByte(',')
		}
		members.WriteString(`{"code":"R-` + batch + stamp + `"}`)
		inputs.WriteString(`{"code":"G-` + batch + stamp + `"}`)
	}
	rest = s.post("/v2/promotions/"+promotion+"/codes", `{"data":{"type":"promotion_codes","codes":[`+members.String()+`]}}`)
	graphql = s.graphql(`mutation Codes($input: PromotionCodesCreateInput!) { promotionCodesCreate(input: $input) { codes { code } userErrors { code message } } }`,
		fmt.Sprintf(`{"input":{"promotionId":%q,"codes":[%s]}}`, promotion, inputs.String()))
	return rest, graphql
}

// single is a mix of one request.
func single(q request) mix { return newMix([]request{q}, 1) }

// codesRow compares with the same rows inserted bare, in a database of the
// same schema.
func (b *bench) codesRow() (results []result, err error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(b.folder, fmt.Sprintf("bare-%d.db", time.Now().UnixNano()))
	defer removeDatabase(file)
	if _, _, err := b.command("", "migrate", "--database-url", "file:"+file); err != nil {
		return nil, err
	}
	bare, err := startBare(b.ctx, "codes", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	defer bare.stop()
	rest, graphql := s.codeRequests()
	for _, side := range []struct {
		name   string
		q      request
		status int
		goal   float64
	}{{"REST", rest, 201, 0.6}, {"GraphQL", graphql, 200, 0.5}} {
		l, err := newLoad(s.running, single(side.q), 8, side.status)
		if err != nil {
			return results, err
		}
		product, floor, err := b.alternate(l, bare)
		l.close()
		if err != nil {
			return results, err
		}
		r := ratio(fmt.Sprintf("1,000 codes a request, durable, 8 clients, %s (%.0f codes/s)", side.name, 1000*product.rate()), product, floor, side.goal)
		results = append(results, r)
	}
	return results, nil
}

// allocation takes one of a product's stock.
func (s *shop) allocation(id string) request {
	return s.post("/v2/inventories/"+id+"/transactions", `{"data":{"type":"stock-transaction","action":"allocate","quantity":1}}`)
}

// fillStock makes so many products last for as long as a row takes.
func (s *shop) fillStock(ids []string) error {
	for _, id := range ids {
		q := s.post("/v2/inventories/"+id+"/transactions", `{"data":{"type":"stock-transaction","action":"increment","quantity":100000}}`)
		if _, err := ask(s.bench.ctx, s.running, q); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) allocateRow() ([]result, error) {
	s, err := b.served()
	if err != nil {
		return nil, err
	}
	ids := s.ids[:min(len(s.ids), 1000, b.distinct)]
	if err := s.fillStock(ids); err != nil {
		return nil, err
	}
	var requests []request
	for _, id := range ids {
		requests = append(requests, s.allocation(id))
	}
	l, err := newLoad(s.running, newMix(requests, len(requests)), 32, 201)
	if err != nil {
		return nil, err
	}
	defer l.close()
	t, err := b.steady(l)
	if err != nil {
		return nil, err
	}
	told := fmt.Sprintf("%.0f/s, p99 %s", t.rate(), round(t.p99()))
	return []result{{"allocate, durable, 32 clients", t, tally{}, told, reached(t.rate() >= 20_000 && t.p99() <= 5*time.Millisecond)}}, nil
}

// steady loads one side alone, after a turn to warm up.
func (b *bench) steady(l *load) (tally, error) {
	d := time.Duration(b.seconds * float64(time.Second))
	if _, err := l.run(b.ctx, d/turns); err != nil {
		return tally{}, err
	}
	return l.run(b.ctx, d)
}

func round(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }

// hotRow compares with statements that update a row of a table of its own,
// each committed alone, over as many connections.
func (b *bench) hotRow() ([]result, error) {
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
	if err := makeHot(s.url); err != nil {
		return nil, err
	}
	bare, err := startBare(b.ctx, "updates", s.url)
	if err != nil {
		return nil, err
	}
	defer bare.stop()
	l, err := newLoad(s.running, single(s.allocation(hot[0])), 32, 201)
	if err != nil {
		return nil, err
	}
	defer l.close()
	product, floor, err := b.alternate(l, bare)
	if err != nil {
		return nil, err
	}
	r := ratio("allocate one hot product, PostgreSQL (floor: plain updates)", product, floor, 10)
	r.told += ", p99 " + round(product.p99())
	return []result{r}, nil
}
