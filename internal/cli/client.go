package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"portico/store"
	"portico/store/access"
)

// Client groups the commands about API clients.
type Client struct {
	Create ClientCreate `cmd:"" help:"Create an API client, and show its secret once."`
	List   ClientList   `cmd:"" help:"List the API clients."`
	Rotate ClientRotate `cmd:"" help:"Give an API client a new secret, and show it once."`
	Revoke ClientRevoke `cmd:"" help:"End an API client, and all its tokens."`
}

// ClientCreate makes an API client.
type ClientCreate struct {
	Name      string   `required:"" help:"What the client is called, 1 to 255 bytes."`
	Scope     []string `enum:"${scopes}" sep:"," placeholder:"SCOPE" help:"What the client may do; repeat it, or separate by commas. Required unless --all-scopes is set. One of: ${scopes}. Default: none."`
	AllScopes bool     `help:"Grant every scope. Excludes --scope. Default: no."`
	JSON      bool     `name:"json" help:"Answer as JSON: client_id and client_secret. Default: as text."`
	Common
}

// Validate requires a choice of scopes: no client gets them all by default.
func (c *ClientCreate) Validate() error {
	switch {
	case c.AllScopes && len(c.Scope) > 0:
		return usage("--scope and --all-scopes exclude each other; set one of them")
	case c.AllScopes:
		c.Scope = access.Scopes()
	case len(c.Scope) == 0:
		return usage("--scope or --all-scopes is required; --scope is one or more of %s", strings.Join(access.Scopes(), ", "))
	}
	return nil
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
	return showSecret(streams, c.JSON, client, secret)
}

// showSecret answers with a client's new secret, which is told nowhere else.
func showSecret(streams Streams, asJSON bool, client *access.Client, secret string) error {
	if asJSON {
		return json.NewEncoder(streams.Out).Encode(struct {
			ClientID       string  `json:"client_id"`
			ClientSecret   string  `json:"client_secret"`
			OldSecretUntil *string `json:"old_secret_until,omitempty"`
		}{client.ID, secret, moment(client.OldSecretUntil)})
	}
	fmt.Fprintf(streams.Out, "client_id      %s\nclient_secret  %s\nscopes         %s\n", client.ID, secret, strings.Join(client.Scopes, " "))
	if until := moment(client.OldSecretUntil); until != nil {
		fmt.Fprintf(streams.Out, "The old secret is good until %s.\n", *until)
	}
	fmt.Fprintln(streams.Err, "The secret is kept as a hash, so this is the only time it is shown.")
	return nil
}

// moment is a time as it is shown; nil for the zero time.
func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.Format(time.RFC3339)
	return &text
}

// ClientList lists the API clients.
type ClientList struct {
	JSON bool `name:"json" help:"Answer as JSON: an array of clients. Default: as text."`
	Common
}

// clientLine is a client in the list.
type clientLine struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	Scopes         []string `json:"scopes"`
	CreatedAt      *string  `json:"created_at"`
	RotatedAt      *string  `json:"rotated_at"`
	OldSecretUntil *string  `json:"old_secret_until"` // null once it is no longer good
	RevokedAt      *string  `json:"revoked_at"`
	ChangedBy      string   `json:"changed_by"`
}

// Run lists them.
func (c *ClientList) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	clients, err := s.Clients(ctx)
	if err != nil {
		return fmt.Errorf("list the clients: %w", err)
	}
	lines := make([]clientLine, len(clients))
	for i, client := range clients {
		lines[i] = clientLine{client.ID, client.Name, client.Scopes, moment(client.CreatedAt), moment(client.RotatedAt),
			moment(client.OldSecretUntil), moment(client.RevokedAt), string(client.ChangedBy)}
	}
	if c.JSON {
		return json.NewEncoder(streams.Out).Encode(lines)
	}
	rows := [][]string{{"ID", "NAME", "CREATED", "ROTATED", "OLD SECRET UNTIL", "REVOKED", "SCOPES"}}
	for _, line := range lines {
		scopes := strings.Join(line.Scopes, " ")
		if len(line.Scopes) == len(access.Scopes()) {
			scopes = "all"
		}
		rows = append(rows, []string{line.ID, line.Name, orDash(line.CreatedAt), orDash(line.RotatedAt), orDash(line.OldSecretUntil), orDash(line.RevokedAt), scopes})
	}
	return writeTable(streams.Out, rows)
}

func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

// writeTable writes rows in columns. What could break a row is shown escaped.
func writeTable(w io.Writer, rows [][]string) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = printable(cell)
		}
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// printable quotes what a terminal would not show as text.
func printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// ClientRotate gives a client a new secret.
type ClientRotate struct {
	ID    string        `arg:"" help:"The client."`
	Grace time.Duration `placeholder:"DURATION" default:"24h" help:"How long the secret that it has stays good, 0s to 720h; 0s ends it at once. Default: ${default}."`
	JSON  bool          `name:"json" help:"Answer as JSON: client_id, client_secret and old_secret_until. Default: as text."`
	Common
}

// Help is the long description.
func (*ClientRotate) Help() string {
	return "Tokens that were issued already stay good until they expire; revoke the client to end them. A secret from before the one it has ends at once."
}

// Run rotates the secret.
func (c *ClientRotate) Run(ctx context.Context, streams Streams) error {
	if c.Grace < 0 || c.Grace > access.MaxSecretGrace {
		return usage("--grace must be between 0s and %s, not %s", access.MaxSecretGrace, c.Grace)
	}
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	client, secret, err := s.RotateClientSecret(ctx, "command:client-rotate", c.ID, c.Grace)
	if err != nil {
		return fmt.Errorf("rotate the client's secret: %w", err)
	}
	return showSecret(streams, c.JSON, client, secret)
}

// ClientRevoke ends a client.
type ClientRevoke struct {
	ID string `arg:"" help:"The client."`
	Common
}

// Help is the long description.
func (*ClientRevoke) Help() string {
	return "The client gets no more tokens, and within a second every server refuses those it has, and those it minted for shoppers. It cannot be undone; create another client instead."
}

// Run revokes the client.
func (c *ClientRevoke) Run(ctx context.Context, streams Streams) error {
	s, err := c.OpenExisting(ctx, c.Log(streams))
	if err != nil {
		return err
	}
	defer s.Close()
	client, err := s.RevokeClient(ctx, "command:client-revoke", c.ID)
	if err != nil {
		return fmt.Errorf("revoke the client: %w", err)
	}
	fmt.Fprintf(streams.Out, "revoked %s (%s) at %s; servers refuse its tokens within a second\n", client.ID, printable(client.Name), *moment(client.RevokedAt))
	return nil
}
