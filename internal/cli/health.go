package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"portico/internal/web"
)

// maxHealth bounds what is read of an answer, in bytes.
const maxHealth = 64 << 10

// Health asks the server on this machine whether it is well.
type Health struct {
	Addr    string        `placeholder:"HOST:PORT" default:"127.0.0.1:8080" help:"Where the server listens, as serve has it; :8080 is this machine. Default: ${default}."`
	TLSCert string        `type:"path" placeholder:"FILE" help:"The certificate of the server, as serve has it: where there is one, it is asked by HTTPS. Default: none, which is HTTP."`
	Ready   bool          `help:"Ask whether requests should be sent to it, by /readyz, rather than whether it is up, by /healthz. Default: no."`
	Timeout time.Duration `placeholder:"DURATION" default:"5s" help:"How long to wait for its answer. Default: ${default}."`
}

// Help is the long description.
func (*Health) Help() string {
	return "For containers, which have nothing else to ask with: exit code 0 where the server is well, 1 where it is not, and why. What restarts a server must not ask with --ready, or a database that is away has every server restarted."
}

// Run asks.
func (c *Health) Run(ctx context.Context, streams Streams) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	scheme, path := "http", web.HealthPath
	if c.TLSCert != "" {
		scheme = "https"
	}
	if c.Ready {
		path = web.ReadyPath
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://localhost"+path, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, c.Addr) // of no host, or of all, it is this machine
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // its name is not this machine's, and it is told nothing
	}}
	defer client.CloseIdleConnections()
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the server at %s does not answer: %w", c.Addr, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxHealth))
	if err != nil {
		return fmt.Errorf("the server at %s does not end its answer: %w", c.Addr, err)
	}
	var told struct{ Status, Detail string }
	if err := json.Unmarshal(text, &told); err != nil {
		return fmt.Errorf("what is at %s is no portico: it answers %s %s", c.Addr, path, response.Status)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s is %s: %s", c.Addr, told.Status, told.Detail)
	}
	fmt.Fprintln(streams.Out, told.Status)
	return nil
}
