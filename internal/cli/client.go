package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"portico/store"
)

// Client groups the commands about API clients.
type Client struct {
	Create ClientCreate `cmd:"" help:"Create an API client, and show its secret once."`
}

// ClientCreate makes an API client.
type ClientCreate struct {
	Name  string   `required:"" help:"What the client is called, 1 to 255 bytes."`
	Scope []string `enum:"${scopes}" sep:"," placeholder:"SCOPE" help:"What the client may do; repeat it, or separate by commas. Default: everything. One of: ${scopes}."`
	JSON  bool     `name:"json" help:"Answer as JSON: client_id and client_secret. Default: as text."`
	Common
}

// Run creates the client.
func (c *ClientCreate) Run(ctx context.Context, streams Streams) error {
	s, err := c.Open(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	client, secret, err := s.CreateClient(ctx, "command:client-create", c.Name, c.Scope)
	if store.HasCode(err, store.Unprocessable) {
		return usage("--%s", err)
	}
	if err != nil {
		return fmt.Errorf("create the client: %w", err)
	}
	if c.JSON {
		return json.NewEncoder(streams.Out).Encode(struct {
			ClientID     string `json:"client_id"`
			ClientSecret string `json:"client_secret"`
		}{client.ID, secret})
	}
	fmt.Fprintf(streams.Out, "client_id      %s\nclient_secret  %s\nscopes         %s\n", client.ID, secret, strings.Join(client.Scopes, " "))
	fmt.Fprintln(streams.Err, "The secret is kept as a hash, so this is the only time it is shown.")
	return nil
}
