//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// startedJob is the response of a mutation that starts a job.
type startedJob struct {
	Data map[string]struct {
		Job struct{ ID string }
	}
}

// start runs a mutation that starts a job, and returns the id of the job.
func (s *shop) start(mutation, input string) (job string, err error) {
	var answer startedJob
	q := s.graphql(fmt.Sprintf(`mutation { %s(input: {%s}) { job { id } userErrors { message } } }`, mutation, input), "")
	if err := s.read(q, &answer); err != nil {
		return "", err
	}
	return answer.Data[mutation].Job.ID, nil
}

// wait waits until a job has succeeded.
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
			return fmt.Errorf("the job ended as %s: %s", answer.Data.Job.State, answer.Data.Job.Error)
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// changeNode changes the description of a node.
func (s *shop) changeNode(description string) error {
	_, err := send(s.bench.ctx, s.running, s.graphql(fmt.Sprintf(`mutation { catalogNodesUpsert(input: {items: [{id: %q, description: %q}]}) { userErrors { message } } }`, s.nodes[0].id, description), ""))
	return err
}

// sell changes the stock of one product after the other, ten times a second, so that responses must show
// current stock. stop returns its error.
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

// shop is a database with a generated shop, and the server and client of it.
type shop struct {
	flags    []string // that select the database
	file     string   // of SQLite, or empty
	url      string   // of PostgreSQL, or empty
	drop     func()   // drops the database; nil for SQLite
	products int
	clientID string
	token    string
	nodes    []catalogNode
	ids      []string // of up to 1,200 products

	bench   *bench
	running *process
	args    []string // flags of running
}

// catalogNode is a node with the number of its products.
type catalogNode struct {
	id       string
	products int
}

const (
	catalogID     = "bench-catalog"
	promotionID   = "bench-promotion"
	outletChannel = "outlet"
)

// shopExtras adds to the generated shop a rule that gives a channel the second catalog, and a promotion
// with codes.
const shopExtras = `{"type":"catalog_rule","id":"bench-rule","attributes":{"name":"Outlet","catalog_id":"` + catalogID + `","channels":["` + outletChannel + `"],"created_at":"2019-01-01T00:00:00.000Z"}}
{"type":"promotion","id":"` + promotionID + `","name":"Codes","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}
`

// catalogLine returns the import line of the generated catalog under another id.
func (s *shop) catalogLine(id string) (string, error) {
	export, err := s.run("", "export", "-")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(export) {
		if rest, found := strings.CutPrefix(line, `{"type":"catalog","id":"`); found {
			_, rest, _ = strings.Cut(rest, `"`)
			return `{"type":"catalog","id":"` + id + `"` + rest, nil
		}
	}
	return "", fmt.Errorf("the generated shop has no catalog")
}

// changeTen imports ten products under new names.
func (s *shop) changeTen() error { return s.change(10) }

// change imports some products under new names.
func (s *shop) change(products int) error {
	export, err := s.run("", "export", "-")
	if err != nil {
		return err
	}
	var changed strings.Builder
	left := products
	for line := range strings.Lines(export) {
		if head, rest, found := strings.Cut(line, `"name":"`); found && strings.HasPrefix(line, `{"type":"product",`) && left > 0 {
			left--
			changed.WriteString(head + `"name":"Changed ` + rest)
		}
	}
	_, err = s.run(changed.String(), "import", "--no-publish", "-")
	return err
}

// run runs a command of portico on the shop.
func (s *shop) run(input string, command string, args ...string) (string, error) {
	flags := append(strings.Fields(command), s.flags...)
	output, _, err := s.bench.command(input, append(flags, args...)...)
	return output, err
}

func (s *shop) fill() error {
	if _, err := s.run("", "import", "--generate", fmt.Sprint(s.products), "--no-publish"); err != nil {
		return err
	}
	line, err := s.catalogLine(catalogID)
	if err != nil {
		return err
	}
	_, err = s.run(line+shopExtras, "import", "-")
	return err
}

// serve returns a running server of the shop with these flags. It stops one with other flags.
func (s *shop) serve(args ...string) (*process, error) {
	if s.running != nil && fmt.Sprint(args) == fmt.Sprint(s.args) {
		return s.running, nil
	}
	s.stop()
	flags := append(append([]string{}, s.flags...), args...)
	server, err := s.bench.serve(flags...)
	if err != nil {
		return nil, err
	}
	s.running, s.args = server, args
	return server, s.connect()
}

func (s *shop) stop() {
	if s.running != nil {
		s.running.stop()
		s.running = nil
	}
}

// connect gets a token, and reads the nodes and ids of products.
func (s *shop) connect() error {
	if s.token == "" {
		output, err := s.run("", "client create", "--name", "bench", "--all-scopes", "--json")
		if err != nil {
			return err
		}
		var client struct {
			ID     string `json:"client_id"`
			Secret string `json:"client_secret"`
		}
		if err := json.Unmarshal([]byte(output), &client); err != nil {
			return err
		}
		s.clientID = client.ID
		if s.token, err = s.newToken(fmt.Sprintf(`{"grant_type":"client_credentials","client_id":%q,"client_secret":%q}`, client.ID, client.Secret)); err != nil {
			return err
		}
	}
	if s.nodes == nil {
		return s.explore()
	}
	return nil
}

// newToken sends a token request.
func (s *shop) newToken(body string) (string, error) {
	var token struct {
		AccessToken string `json:"access_token"`
	}
	request := loadRequest{method: "POST", path: "/oauth/access_token", body: body}.with("Content-Type", "application/json")
	err := s.read(request, &token)
	return token.AccessToken, err
}

// explore reads the first 100 nodes with the number of their products, and ids of products.
func (s *shop) explore() error {
	var answer struct {
		Data struct {
			CatalogNodes struct {
				Nodes []struct {
					UUID     string
					Products struct{ TotalCount int }
				}
			}
		}
	}
	if err := s.read(s.graphql(`{ catalogNodes(first: 100) { nodes { uuid products(first: 1) { totalCount } } } }`, ""), &answer); err != nil {
		return err
	}
	for _, found := range answer.Data.CatalogNodes.Nodes {
		s.nodes = append(s.nodes, catalogNode{found.UUID, found.Products.TotalCount})
	}
	for offset := 0; offset < min(s.products, 1200); offset += 100 {
		var page struct{ Data []struct{ ID string } }
		if err := s.read(s.get(fmt.Sprintf("/v2/inventories?page[limit]=100&page[offset]=%d", offset)), &page); err != nil {
			return err
		}
		for _, stock := range page.Data {
			s.ids = append(s.ids, stock.ID)
		}
	}
	return nil
}

// read sends a request to the running server and decodes the JSON of its response.
func (s *shop) read(q loadRequest, into any) error {
	answer, err := send(s.bench.ctx, s.running, q)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Body, into)
}

func (s *shop) get(path string) loadRequest {
	return loadRequest{method: "GET", path: path}.with("Authorization", "Bearer "+s.token)
}

func (s *shop) post(path, body string) loadRequest {
	return loadRequest{method: "POST", path: path, body: body}.with("Authorization", "Bearer "+s.token).with("Content-Type", "application/json")
}

// graphql returns the request of an operation. variables are JSON or empty.
func (s *shop) graphql(document, variables string) loadRequest {
	document = strings.Join(strings.Fields(document), " ")
	if variables == "" {
		return s.post("/graphql", fmt.Sprintf(`{"query":%q}`, document))
	}
	return s.post("/graphql", fmt.Sprintf(`{"query":%q,"variables":%s}`, document, variables))
}

// fillStock adds enough stock of the products for a row.
func (s *shop) fillStock(ids []string) error {
	for _, id := range ids {
		q := s.post("/v2/inventories/"+id+"/transactions", `{"data":{"type":"stock-transaction","action":"increment","quantity":100000}}`)
		if _, err := send(s.bench.ctx, s.running, q); err != nil {
			return err
		}
	}
	return nil
}
