package status

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// Path is where the admin listener serves the page.
const Path = "/status"

// pageSeconds is how often the page loads again, and pagePast the longest time that its rates are of.
const (
	pageSeconds = 5
	pagePast    = time.Minute
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
<p>{{.At.Format "2006-01-02 15:04:05 UTC"}}, up {{duration .Server.Uptime}}, database {{.Server.Database}} {{if .Server.DatabaseUp}}up{{else}}<span class="bad">down</span>{{end}}</p>
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

type pageTable struct {
	Columns []string
	Rows    [][]string
}

// Page serves the report of the metrics that gather returns as a page without scripts, for the last minute if it was
// loaded before.
func Page(gather func() ([]*dto.MetricFamily, error), now func() time.Time) http.Handler {
	sum := sha256.Sum256([]byte(pageStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	var mu sync.Mutex
	var past []*Snapshot // of the last minute, at most one in pageSeconds/2
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		families, err := gather()
		if len(families) == 0 && err != nil {
			http.Error(w, "The metrics cannot be read.", http.StatusInternalServerError)
			return
		}
		s := NewSnapshot(now(), families)
		mu.Lock()
		for len(past) > 0 && s.At.Sub(past[0].At) > pagePast {
			past = past[1:]
		}
		var before *Snapshot
		if len(past) > 0 {
			before = past[0]
		}
		if len(past) == 0 || s.At.Sub(past[len(past)-1].At) >= pageSeconds*time.Second/2 {
			past = append(past, s)
		}
		mu.Unlock()
		report := NewReport(before, s)
		var tables []pageTable
		for _, t := range report.tables() {
			if len(t.rows) > 0 {
				tables = append(tables, pageTable{t.columns, t.rows})
			}
		}
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", policy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		_ = page.Execute(w, map[string]any{"Report": report, "Tables": tables, "Period": report.period(), "Refresh": pageSeconds, "Style": template.CSS(pageStyle)})
	})
}
