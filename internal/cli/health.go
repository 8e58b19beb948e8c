package cli

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"portico/internal/web"
)

// maxHealthBytes limits how much of a response health reads.
const maxHealthBytes = 64 << 10

// Health checks the server on this machine.
type Health struct {
	Addr    string        `placeholder:"HOST:PORT" default:"127.0.0.1:8080" help:"Address of the server: its --addr. :8080 means this machine."`
	TLSCert string        `type:"path" placeholder:"FILE" help:"The --tls-cert of the server. If set, the check uses HTTPS."`
	Ready   bool          `help:"Check /readyz (can serve requests) instead of /healthz (is running)."`
	Timeout time.Duration `placeholder:"DURATION" default:"5s" help:"Time limit for the response."`
	Output
}

// Help is the long description.
func (*Health) Help() string {
	return "For the health checks of containers, which have no curl. Exits with 0 if the server is healthy, else with 1 and the reason. " +
		"Do not use --ready for a check that restarts the server, or an unreachable database restarts all servers. " +
		jsonHelp(healthStatus{Status: "ok"})
}

// healthStatus is the result of health.
type healthStatus struct {
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"`
}

func (h healthStatus) String() string { return h.Status }

// Run checks the server.
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
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://localhost"+path, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, c.Addr)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is for another name, and nothing secret is sent
	}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if urlError := new(url.Error); errors.As(err, &urlError) {
		err = urlError.Err // without the URL, whose host is not the address
	}
	if err != nil {
		return fmt.Errorf("no response from the server at %s: %w", c.Addr, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxHealthBytes))
	if err != nil {
		return fmt.Errorf("incomplete response from the server at %s: %w", c.Addr, err)
	}
	var status healthStatus
	if err := json.Unmarshal(body, &status); err != nil {
		return fmt.Errorf("the server at %s is not portico: %s returns %s", c.Addr, path, resp.Status)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server at %s is %s: %s", c.Addr, status.Status, status.Detail)
	}
	return c.print(streams, status)
}
