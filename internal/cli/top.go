package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/term"

	"portico/internal/status"
	"portico/internal/web/metrics"
)

const (
	maxMetricsBytes = 64 << 20 // that top reads
	plainWidth      = 100      // of the report outside a terminal
)

// Top shows what a server does.
type Top struct {
	Admin    string        `placeholder:"HOST:PORT" default:"127.0.0.1:9090" help:"Address of the server's metrics: its --admin-addr. :9090 means this machine."`
	Once     bool          `help:"Print one report and stop."`
	Interval time.Duration `placeholder:"DURATION" default:"2s" help:"Time between reports, which rates and latencies are of: 100ms to 1h. With --once, 0s means since the server started."`
	Timeout  time.Duration `placeholder:"DURATION" default:"5s" help:"Time limit for a response."`
	Output
}

// Help is the long description.
func (*Top) Help() string {
	p50, p99, hits := 1.8, 12.5, 0.93
	latency := status.Latency{Name: "GraphQL query", PerSecond: 120, P50: &p50, P99: &p99}
	return "It reads /metrics, and shows requests, latencies, caches, pools, jobs and releases of this server in a terminal until it is interrupted. " +
		"The same is at /status of the address, for browsers. --json prints one report a line. " +
		jsonHelp(status.Report{At: time.Date(2026, 11, 25, 9, 30, 0, 0, time.UTC), Seconds: 2,
			Server:    status.Server{Version: "1.0.0", Database: "postgres", DatabaseUp: true, Uptime: 86400, CPU: 0.4, MemoryBytes: 268435456, OpenFiles: 40},
			Requests:  status.Requests{PerSecond: 180, ByStatus: map[string]float64{"2xx": 180}, Running: 3},
			Latencies: []status.Latency{latency}, Busiest: []status.Latency{{Name: "query Products", PerSecond: 80, P50: &p50, P99: &p99}},
			Caches: []status.Cache{{Name: "responses", HitRate: &hits, Bytes: 52428800}}, Pools: []status.Pool{{Name: "read", InUse: 1, Idle: 3, Max: 4}},
			Jobs: []status.Job{{Kind: "publish", State: "running", Count: 1, Oldest: 4}}, Catalogs: []status.Catalog{{Catalog: "main", Age: 3600}}, Problems: []string{}, FailedWrites: map[string]float64{}})
}

// Validate checks the flags.
func (c *Top) Validate() error {
	if _, _, err := net.SplitHostPort(c.Admin); err != nil || strings.Contains(c.Admin, "/") {
		return fmt.Errorf("--admin must be an address such as 127.0.0.1:9090, got %q", c.Admin)
	}
	if c.Interval == 0 && c.Once {
		return nil
	}
	if c.Interval < 100*time.Millisecond || c.Interval > time.Hour {
		return fmt.Errorf("--interval must be between 100ms and 1h, got %s", c.Interval)
	}
	return nil
}

// Run prints reports.
func (c *Top) Run(ctx context.Context, streams Streams) error {
	client := &http.Client{Timeout: c.Timeout, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	before, err := c.read(ctx, client)
	if err != nil {
		return err
	}
	if c.Interval == 0 {
		return c.show(streams, status.NewReport(nil, before))
	}
	live := isTerminal(streams.Out) && !c.Once && !c.JSON
	if live {
		if err := c.show(streams, status.NewReport(nil, before)); err != nil {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			return nil // Ctrl+C is how people end it
		case <-time.After(c.Interval):
		}
		now, err := c.read(ctx, client)
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.show(streams, status.NewReport(before, now)); err != nil || c.Once {
			return err
		}
		before = now
	}
}

// read reads the metrics.
func (c *Top) read(ctx context.Context, client *http.Client) (*status.Snapshot, error) {
	address := c.Admin
	if strings.HasPrefix(address, ":") {
		address = "127.0.0.1" + address
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+metrics.Path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if urlError := new(url.Error); errors.As(err, &urlError) {
		err = urlError.Err
	}
	if err != nil {
		return nil, fmt.Errorf("no response from %s: %w. Give the --admin-addr of a running server", c.Admin, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s has no metrics: %s returns %s. Give the --admin-addr of a server, not its --addr", c.Admin, metrics.Path, resp.Status)
	}
	snapshot, err := status.Parse(time.Now(), io.LimitReader(resp.Body, maxMetricsBytes))
	if err != nil {
		return nil, fmt.Errorf("%s is not portico: its metrics cannot be read: %w", c.Admin, err)
	}
	return snapshot, nil
}

// show prints a report: as a line of JSON, in the place of the one before in a terminal, or as text.
func (c *Top) show(streams Streams, report *status.Report) error {
	if c.JSON {
		return c.printJSON(streams, report)
	}
	if !isTerminal(streams.Out) {
		_, err := fmt.Fprint(streams.Out, report.Text(plainWidth))
		return err
	}
	columns, rows, err := term.GetSize(int(fileOf(streams.Out).Fd()))
	if err != nil || columns <= 0 {
		columns = plainWidth
	}
	text, clear := report.Text(columns), ""
	if !c.Once {
		clear, text = "\x1b[H\x1b[2J", firstLines(text, rows-1)
	}
	_, err = fmt.Fprint(streams.Out, clear, text)
	return err
}

// firstLines cuts a text to at most some lines, the last of which says how many more there are. Less than 2 means no limit.
func firstLines(text string, most int) string {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	if most < 2 || len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most-1], "") + fmt.Sprintf("… %d more lines: make the terminal higher, or open /status\n", len(lines)-most+1)
}
