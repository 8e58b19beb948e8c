package status

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// Path is where the admin listener serves the page.
const Path = "/status"

const (
	pageSeconds = 5           // after which the page loads again
	pagePast    = time.Minute // the longest time that rates are of
	textSeconds = 2           // which the first text waits, so that its rates are of this time
)

const pageStyle = `
:root { color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d); --soft: light-dark(#57606a, #9198a1); --bad: light-dark(#b42318, #ff8a80); }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 76rem; }
h1 { font-size: 1.3rem; margin: 0 0 .25rem; } h2 { font-size: 1rem; margin: 0 0 .5rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); } .bad { color: var(--bad); font-weight: 600; }
main { display: grid; gap: 1.25rem 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); margin-top: 1.25rem; }
section { min-width: 0; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 500; font-size: .8rem; }
`

var page = template.Must(template.New("status").Funcs(template.FuncMap{"rate": rate, "size": size, "duration": duration,
	"time": func(at time.Time) string { return at.Format(timeLayout) },
	"zero": func(f float64) string { return fmt.Sprintf("%.0f", f) }, "cpu": func(f float64) string { return fmt.Sprintf("%.2f", f) }}).Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="{{.Refresh}}">
<title>portico status</title>
<style>{{.Style}}</style>
</head>
<body>
{{with .Report}}<header>
<h1>portico {{.Server.Version}}</h1>
<p>{{time .At}}, up {{duration .Server.Uptime}}, database {{.Server.Database}} {{if .Server.DatabaseUp}}up{{else}}<span class="bad">down</span>{{end}}</p>
<p>CPU {{cpu .Server.CPU}}, memory {{size .Server.MemoryBytes}}, open files {{zero .Server.OpenFiles}}, streams {{zero .Requests.Subscriptions}}</p>
<p>Requests {{rate .Requests.PerSecond}} per second{{range $status, $n := .Requests.ByStatus}}, {{$status}} {{rate $n}}{{end}}, GraphQL errors {{rate .Requests.GraphQLErrors}}; running {{zero .Requests.Running}}, waiting {{zero .Requests.Waiting}}, refused {{zero .Requests.Refused}}</p>
{{range .Problems}}<p class="bad">{{.}}</p>
{{end}}<p class="soft">Rates and latencies: {{$.Period}}. The page loads again every {{$.Refresh}} seconds.</p>
</header>{{end}}
<main>
{{range .Tables}}<section>
<table>
<thead><tr>{{range .Columns}}<th scope="col">{{.}}</th>{{end}}</tr></thead>
<tbody>
{{range .Rows}}<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{end}}</tbody>
</table>
</section>
{{end}}</main>
</body>
</html>
`))

// pageTable is a table as the template page needs it.
type pageTable struct {
	Columns []string
	Rows    [][]string
}

// history is the snapshots of the last minute, at most one in pageSeconds/2.
type history struct {
	gather func() ([]*dto.MetricFamily, error)
	now    func() time.Time
	mu     sync.Mutex
	past   []*Snapshot // the oldest first
}

// report returns what the server did since the oldest snapshot, or since its start if there is none. It keeps a snapshot.
func (h *history) report() (*Report, error) {
	families, err := h.gather()
	if len(families) == 0 && err != nil {
		return nil, err
	}
	s := NewSnapshot(h.now(), families)
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.past) > 0 && s.At.Sub(h.past[0].At) > pagePast {
		h.past = h.past[1:]
	}
	var before *Snapshot
	if len(h.past) > 0 {
		before = h.past[0]
	}
	if len(h.past) == 0 || s.At.Sub(h.past[len(h.past)-1].At) >= pageSeconds*time.Second/2 {
		h.past = append(h.past, s)
	}
	return NewReport(before, s), nil
}

// Page serves the report of the metrics that gather returns, for the last minute if it was loaded before: as a page
// without scripts, or as text to a client that accepts text/plain and not HTML. The page loads again by itself; the text
// waits for textSeconds instead of showing the time since the start.
func Page(gather func() ([]*dto.MetricFamily, error), now func() time.Time) http.Handler {
	sum := sha256.Sum256([]byte(pageStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	h := &history{gather: gather, now: now}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accept := strings.Join(r.Header["Accept"], ",")
		plain := strings.Contains(accept, "text/plain") && !strings.Contains(accept, "text/html")
		report, err := h.report()
		if err == nil && plain && report.SinceBoot {
			select {
			case <-r.Context().Done():
			case <-time.After(textSeconds * time.Second):
			}
			report, err = h.report()
		}
		if err != nil {
			http.Error(w, "The metrics cannot be read.", http.StatusInternalServerError)
			return
		}
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("Vary", "Accept")
		if plain {
			header.Set("Content-Type", "text/plain; charset=utf-8")
			_, _ = io.WriteString(w, report.Text())
			return
		}
		var tables []pageTable
		for _, t := range report.tables() {
			if len(t.rows) > 0 {
				tables = append(tables, pageTable{t.columns, t.rows})
			}
		}
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", policy)
		header.Set("Referrer-Policy", "no-referrer")
		_ = page.Execute(w, map[string]any{"Report": report, "Tables": tables, "Period": report.period(), "Refresh": pageSeconds, "Style": template.CSS(pageStyle)})
	})
}
