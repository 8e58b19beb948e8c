package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"portico/store"
	"portico/store/access"
)

// Client groups the commands for API clients.
type Client struct {
	Create ClientCreate `cmd:"" help:"Create an API client and print its secret."`
	List   ClientList   `cmd:"" help:"List API clients."`
	Rotate ClientRotate `cmd:"" help:"Replace the secret of an API client and print the new one."`
	Revoke ClientRevoke `cmd:"" help:"Revoke an API client and all its tokens."`
}

// ClientCreate creates an API client.
type ClientCreate struct {
	Name      string   `required:"" help:"Display name, 1 to 255 bytes."`
	Scope     []string `enum:"${scopes}" sep:"," placeholder:"SCOPE" help:"Scope to grant. Can be repeated, or separated by commas. One of: ${scopeList}."`
	AllScopes bool     `help:"Grant all scopes, instead of --scope."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ClientCreate) Help() string {
	return "Set --scope or --all-scopes. The database stores a hash of the secret only, so copy the secret now. " +
		jsonHelp(clientSecret{ClientID: "0198f1f3-1f2e-7d2a-9d3f-6a5b4c3d2e1f", Secret: "pk_4fVh..."})
}

// Validate requires a choice of scopes: the default is not all of them.
func (c *ClientCreate) Validate() error {
	switch {
	case c.AllScopes && len(c.Scope) > 0:
		return usagef("--scope and --all-scopes exclude each other. Set one of them")
	case c.AllScopes:
		c.Scope = access.Scopes()
	case len(c.Scope) == 0:
		return usagef("--scope or --all-scopes is required. --scope is one or more of %s", strings.Join(access.Scopes(), ", "))
	}
	return nil
}

// Run creates the client.
func (c *ClientCreate) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	client, secret, err := s.Access.CreateClient(ctx, "command:client-create", c.Name, c.Scope)
	if store.HasCode(err, store.Unprocessable) {
		return usagef("--%s", err)
	}
	if err != nil {
		return fmt.Errorf("create the client: %w", err)
	}
	return c.printSecret(streams, client, secret)
}

// clientSecret is the result of client create and client rotate.
type clientSecret struct {
	ClientID       string   `json:"client_id"`
	Secret         string   `json:"client_secret"`
	Scopes         []string `json:"-"`
	OldSecretUntil *string  `json:"old_secret_until,omitempty"`
}

func (c clientSecret) String() string {
	text := fmt.Sprintf("client_id      %s\nclient_secret  %s\nscopes         %s\n", c.ClientID, c.Secret, strings.Join(c.Scopes, " "))
	if c.OldSecretUntil != nil {
		text += fmt.Sprintf("The old secret is valid until %s.\n", *c.OldSecretUntil)
	}
	return text
}

// printSecret prints a new secret. If that fails, the error says that the secret is lost.
func (o Output) printSecret(streams Streams, client *access.Client, secret string) error {
	if !o.JSON {
		fmt.Fprintln(streams.Err, "Copy the secret now. It is stored as a hash and cannot be shown again.")
	}
	err := o.print(streams, clientSecret{client.ID, secret, client.Scopes, timestamp(client.OldSecretUntil)})
	if err != nil {
		return fmt.Errorf("the secret of client %s is lost, since standard output cannot be written: %v. Get another one with portico client rotate %[1]s", client.ID, err)
	}
	return nil
}

// ClientList lists the API clients.
type ClientList struct {
	Output
	StoreFlags
}

// Help is the long description.
func (*ClientList) Help() string {
	at := "2026-01-31T12:00:00Z"
	return jsonHelp(clientList{{ID: "0198f1f3-1f2e-7d2a-9d3f-6a5b4c3d2e1f", Name: "Storefront", Scopes: []string{"catalog:read"}, CreatedAt: &at, ChangedBy: "command:client-create"}})
}

// clientList is the result of client list.
type clientList []clientEntry

type clientEntry struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	Scopes         []string `json:"scopes"`
	CreatedAt      *string  `json:"created_at"`
	RotatedAt      *string  `json:"rotated_at"`
	OldSecretUntil *string  `json:"old_secret_until"` // null once it has expired
	RevokedAt      *string  `json:"revoked_at"`
	ChangedBy      string   `json:"changed_by"`
}

func (l clientList) String() string {
	rows := [][]string{{"ID", "NAME", "CREATED", "ROTATED", "OLD SECRET UNTIL", "REVOKED", "SCOPES"}}
	for _, client := range l {
		scopes := strings.Join(client.Scopes, " ")
		if len(client.Scopes) == len(access.Scopes()) {
			scopes = "all"
		}
		rows = append(rows, []string{client.ID, client.Name, orDash(client.CreatedAt), orDash(client.RotatedAt),
			orDash(client.OldSecretUntil), orDash(client.RevokedAt), scopes})
	}
	return table(rows)
}

// Run lists them.
func (c *ClientList) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenToRead(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	clients, err := s.Access.Clients(ctx)
	if err != nil {
		return fmt.Errorf("list the clients: %w", err)
	}
	list := make(clientList, len(clients))
	for i, client := range clients {
		list[i] = clientEntry{client.ID, client.Name, client.Scopes, timestamp(client.CreatedAt), timestamp(client.RotatedAt),
			timestamp(client.OldSecretUntil), timestamp(client.RevokedAt), string(client.ChangedBy)}
	}
	return c.print(streams, list)
}

// ClientRotate replaces the secret of a client.
type ClientRotate struct {
	ID    string        `arg:"" help:"Id of the client."`
	Grace time.Duration `placeholder:"DURATION" default:"24h" help:"How long the current secret stays valid, 0s to 720h. 0s ends it at once."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ClientRotate) Help() string {
	until := "2026-02-01T12:00:00Z"
	return "Tokens that were already issued stay valid until they expire. To end them, revoke the client. " +
		"An older secret that is still in its grace period ends at once. " +
		jsonHelp(clientSecret{"0198f1f3-1f2e-7d2a-9d3f-6a5b4c3d2e1f", "pk_4fVh...", nil, &until})
}

// Run rotates the secret.
func (c *ClientRotate) Run(ctx context.Context, streams Streams) error {
	if c.Grace < 0 || c.Grace > access.MaxSecretGrace {
		return usagef("--grace must be between 0s and %s, got %s", access.MaxSecretGrace, c.Grace)
	}
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	client, secret, err := s.Access.RotateClientSecret(ctx, "command:client-rotate", c.ID, c.Grace)
	if err != nil {
		return fmt.Errorf("rotate the secret of the client: %w", err)
	}
	return c.printSecret(streams, client, secret)
}

// ClientRevoke revokes a client.
type ClientRevoke struct {
	ID string `arg:"" help:"Id of the client."`
	Output
	StoreFlags
}

// Help is the long description.
func (*ClientRevoke) Help() string {
	return "The client gets no more tokens. Within a second, all servers reject its tokens and the shopper tokens it created. " +
		"This cannot be undone. " +
		jsonHelp(revokedClient{"0198f1f3-1f2e-7d2a-9d3f-6a5b4c3d2e1f", "Storefront", "2026-01-31T12:00:00Z"})
}

// revokedClient is the result of client revoke.
type revokedClient struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	RevokedAt string `json:"revoked_at"`
}

func (c revokedClient) String() string {
	return fmt.Sprintf("revoked %s (%s) at %s; servers reject its tokens within a second", c.ID, printable(c.Name), c.RevokedAt)
}

// Run revokes the client.
func (c *ClientRevoke) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	client, err := s.Access.RevokeClient(ctx, "command:client-revoke", c.ID)
	if err != nil {
		return fmt.Errorf("revoke the client: %w", err)
	}
	return c.print(streams, revokedClient{client.ID, client.Name, orDash(timestamp(client.RevokedAt))})
}
