// Package demo holds a small coffee shop in the import format, for serve --demo. Open fills a store with it and creates a Client. It must
// not import the GraphQL and REST packages.
package demo

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/exchange"
	"portico/store/release/routing"
	"portico/store/shop"
)

// shopFile is the shop in the import format.
//
//go:embed shop.ndjson
var shopFile string

// clients are the public client, with which anyone reads the shop by an implicit token, and ownClient, which may do everything. They
// are not part of shop.ndjson, so that copies of the shop do not have them.
const clients = `{"type":"api_client","id":"demo","name":"demo","scopes":["catalog:read","inventory:read"],"created_at":"2025-02-20T08:00:00.000Z"}
{"type":"api_client","id":"` + ownClient + `","name":"demo","scopes":SCOPES,"created_at":"2025-02-20T08:00:00.000Z"}`

const ownClient = "demo-all-scopes"

// CatalogID is the only catalog of the shop.
const CatalogID = "catalog-coffee"

const (
	actor         store.Actor = "command:serve-demo"
	tokenLifetime             = 24 * time.Hour
)

// Client is the API client that the demo creates.
type Client struct {
	ClientID, Secret string
	Token            string // for a day, with all scopes
}

// Open imports the shop into a store, publishes it, and creates the clients. The own client gets a new secret and a token. It fails if the
// store has another shop: a catalog that is not the demo's.
func Open(ctx context.Context, s *shop.Store, tokens *auth.Service) (*Client, error) {
	catalogs, err := s.Releases.CatalogIDs(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for other shops: %w", err)
	}
	for _, id := range catalogs {
		if id != CatalogID {
			return nil, fmt.Errorf("the database has another shop, with the catalog %q. Omit --demo to serve it, or --database-url to try the demo", id)
		}
	}
	if err := Fill(ctx, s); err != nil {
		return nil, err
	}
	if err := read(ctx, s, strings.Replace(clients, "SCOPES", string(store.Encode(access.Scopes())), 1)); err != nil {
		return nil, fmt.Errorf("create the demo's clients: %w", err)
	}
	client, secret, err := s.Access.RotateClientSecret(ctx, actor, ownClient, 0)
	if err != nil {
		return nil, fmt.Errorf("make a secret for the demo's client: %w", err)
	}
	token, err := tokens.Issue(ctx, auth.Grant{
		Type: auth.GrantClientCredentials, ClientID: client.ID, Scopes: client.Scopes, Lifetime: tokenLifetime,
	})
	if err != nil {
		return nil, err
	}
	return &Client{client.ID, secret, token.AccessToken}, nil
}

// Fill imports and publishes the shop.
func Fill(ctx context.Context, s *shop.Store) error {
	if err := read(ctx, s, shopFile); err != nil {
		return fmt.Errorf("import the demo shop: %w", err)
	}
	if _, err := s.Publisher.PublishUnlessHeld(ctx, actor, CatalogID, nil); err != nil && !errors.As(err, new(*routing.HeldError)) {
		return fmt.Errorf("publish the demo shop: %w", err)
	}
	return nil
}

// read imports lines of the import format.
func read(ctx context.Context, s *shop.Store, lines string) error {
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines)), nil }
	_, err := s.Exchange.Import(ctx, actor, open, exchange.ImportOptions{})
	return err
}

// PrintWelcome prints the addresses and credentials. base is the server's address, such as http://127.0.0.1:8080.
func PrintWelcome(w io.Writer, base string, c *Client) error {
	_, err := strings.NewReplacer("BASE", base, "CLIENT", c.ClientID, "SECRET", c.Secret, "THETOKEN", c.Token).WriteString(w, `
Portico Coffee is running, on this machine only.

  Playground     BASE/
  GraphQL        BASE/graphql
  Schema         BASE/schema.graphql
  REST           BASE/docs

  client_id      CLIENT
  client_secret  SECRET

A token, good for a day, which the playground has already:

  TOKEN=THETOKEN

With that in a shell, a page of the coffees by REST, and the same by GraphQL:

  curl -g 'BASE/catalog/nodes/node-coffee/relationships/products?page[limit]=3' -H "Authorization: Bearer $TOKEN"
  curl -g 'BASE/graphql?query={catalogNode(by:{id:"node-coffee"}){products(first:3){nodes{name,sku}}}}' -H "Authorization: Bearer $TOKEN"

`)
	return err
}

// ErrNotLocal rejects addresses that other machines can reach, since the demo prints its credentials.
var ErrNotLocal = errors.New("the demo listens on this machine only: use --addr 127.0.0.1:PORT, or omit --demo")
