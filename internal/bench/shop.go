//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// shop is a database with a generated shop, and what a client of it knows.
type shop struct {
	flags    []string // that name the database
	file     string   // of SQLite, or empty
	url      string   // of PostgreSQL, or empty
	drop     func()   // ends the database, if it must be; nil else
	products int
	token    string
	nodes    []node
	ids      []string // of up to 1,200 products

	bench   *bench
	running *process
	args    []string // that it runs with
}

// node is a node and how many products it lists.
type node struct {
	id       string
	products int
}

const (
	catalog      = "bench-catalog"
	promotion    = "bench-promotion"
	otherChannel = "outlet"
)

// beside is what the mixes need and no generated shop has: a rule that gives
// a channel the second catalog, and a promotion that takes codes.
const beside = `{"type":"catalog_rule","id":"bench-rule","attributes":{"name":"Outlet","catalog_id":"` + catalog + `","channels":["` + otherChannel + `"],"created_at":"2019-01-01T00:00:00.000Z"}}
{"type":"promotion","id":"` + promotion + `","name":"Codes","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}
`

// catalogLine is the generated catalog under another id, to import.
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

// changeTen imports ten products with another name.
func (s *shop) changeTen() error {
	export, err := s.run("", "export", "-")
	if err != nil {
		return err
	}
	var changed strings.Builder
	for line := range strings.Lines(export) {
		if head, rest, found := strings.Cut(line, `"name":"`); found && strings.HasPrefix(line, `{"type":"product",`) && strings.Count(changed.String(), "\n") < 10 {
			changed.WriteString(head + `"name":"Changed ` + rest)
		}
	}
	_, err = s.run(changed.String(), "import", "--no-publish", "-")
	return err
}

// shop makes a shop of so many products on SQLite, or finds it in the folder.
func (b *bench) shop(products int) (*shop, error) {
	for _, s := range b.shops {
		if s.products == products && s.file != "" {
			return s, nil
		}
	}
	file := filepath.Join(b.folder, fmt.Sprintf("shop-%d.db", products))
	s := &shop{flags: []string{"--database-url", "file:" + file}, file: file, products: products, bench: b}
	_, err := os.Stat(file)
	if err != nil {
		if err := s.fill(); err != nil {
			return nil, err
		}
	}
	b.shops = append(b.shops, s)
	return s, nil
}

// run runs a command of the product on the shop.
func (s *shop) run(input string, command string, args ...string) (string, error) {
	flags := append(strings.Fields(command), s.flags...)
	output, _, err := s.bench.command(input, append(flags, args...)...)
	return output, err
}

func (s *shop) fill() error {
	if _, err := s.run("", "import", "--generate", fmt.Sprint(s.products), "--no-publish"); err != nil {
		return err
	}
	line, err := s.catalogLine(catalog)
	if err != nil {
		return err
	}
	_, err = s.run(line+beside, "import", "-")
	return err
}

// serve runs the server on the shop with these flags more; one that runs with
// others is ended first.
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
	return server, s.meet()
}

func (s *shop) stop() {
	if s.running != nil {
		s.running.stop()
		s.running = nil
	}
}

// meet gets a token, and learns which nodes and products there are.
func (s *shop) meet() error {
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
		var token struct {
			AccessToken string `json:"access_token"`
		}
		form := request{method: "POST", path: "/oauth/access_token",
			body: fmt.Sprintf(`{"grant_type":"client_credentials","client_id":%q,"client_secret":%q}`, client.ID, client.Secret)}
		if err := s.read(form.with("Content-Type", "application/json"), &token); err != nil {
			return err
		}
		s.token = token.AccessToken
	}
	if s.nodes == nil {
		return s.explore()
	}
	return nil
}

// explore reads the first 100 nodes with the lengths of their lists, and ids
// of products.
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
		s.nodes = append(s.nodes, node{found.UUID, found.Products.TotalCount})
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

// read asks the running server for JSON.
func (s *shop) read(q request, into any) error {
	answer, err := ask(s.bench.ctx, s.running, q)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Body, into)
}

func (s *shop) get(path string) request {
	return request{method: "GET", path: path}.with("Authorization", "Bearer "+s.token)
}

func (s *shop) post(path, body string) request {
	return request{method: "POST", path: path, body: body}.with("Authorization", "Bearer "+s.token).with("Content-Type", "application/json")
}

// graphql is an operation; variables are JSON, or empty.
func (s *shop) graphql(document, variables string) request {
	document = strings.Join(strings.Fields(document), " ")
	if variables == "" {
		return s.post("/graphql", fmt.Sprintf(`{"query":%q}`, document))
	}
	return s.post("/graphql", fmt.Sprintf(`{"query":%q,"variables":%s}`, document, variables))
}
