package status

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Text returns the report for a terminal. Lines of what to look at come first and begin with "!".
func (r *Report) Text() string {
	var text strings.Builder
	for _, problem := range r.Problems {
		fmt.Fprintf(&text, "! %s\n", problem)
	}
	s, q := r.Server, r.Requests
	state := "up"
	if !s.DatabaseUp {
		state = "DOWN"
	}
	fmt.Fprintf(&text, "portico %s  %s  up %s  database %s %s\n", s.Version, r.At.Format(timeLayout), duration(s.Uptime), s.Database, state)
	fmt.Fprintf(&text, "%s  CPU %.2f  memory %s  open files %.0f  streams %.0f\n", r.period(), s.CPU, size(s.MemoryBytes), s.OpenFiles, q.Subscriptions)
	fmt.Fprintf(&text, "requests %s/s  2xx %s  3xx %s  4xx %s  5xx %s  GraphQL errors %s\n", rate(q.PerSecond),
		rate(q.ByStatus["2xx"]), rate(q.ByStatus["3xx"]), rate(q.ByStatus["4xx"]), rate(q.ByStatus["5xx"]), rate(q.GraphQLErrors))
	fmt.Fprintf(&text, "running %.0f  waiting %.0f  refused %.0f\n", q.Running, q.Waiting, q.Refused)
	for _, t := range r.tables() {
		if len(t.rows) == 0 {
			continue
		}
		text.WriteByte('\n')
		w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
		for _, row := range append([][]string{t.columns}, t.rows...) {
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		_ = w.Flush() // a strings.Builder does not fail
	}
	return text.String()
}

const timeLayout = "2006-01-02 15:04:05 UTC"

// period says what rates and latencies are of.
func (r *Report) period() string {
	if r.SinceBoot {
		return "since the start"
	}
	return "last " + duration(r.Seconds)
}

// table is a part of the report. The first column is text, the others are numbers.
type table struct {
	columns []string
	rows    [][]string
}

// tables returns all tables, also those without rows, which the text and the page leave out.
func (r *Report) tables() []table {
	latency := func(title string, list []Latency) table {
		t := table{[]string{title, "PER SECOND", "P50", "P99"}, nil}
		for _, l := range list {
			t.rows = append(t.rows, []string{l.Name, rate(l.PerSecond), millis(l.P50), millis(l.P99)})
		}
		return t
	}
	kept := table{[]string{"CACHE", "HITS", "BYTES"}, nil}
	for _, c := range r.Caches {
		hits := "-"
		if c.HitRate != nil {
			hits = fmt.Sprintf("%.1f %%", *c.HitRate*100)
		}
		kept.rows = append(kept.rows, []string{c.Name, hits, size(c.Bytes)})
	}
	pools := table{[]string{"POOL", "IN USE", "IDLE", "MOST", "WAITS"}, nil}
	for _, p := range r.Pools {
		pools.rows = append(pools.rows, []string{p.Name, fmt.Sprint(p.InUse), fmt.Sprint(p.Idle), fmt.Sprint(p.Max), fmt.Sprint(p.Waits)})
	}
	jobs := table{[]string{"JOB", "STATE", "COUNT", "OLDEST"}, nil}
	for _, j := range r.Jobs {
		jobs.rows = append(jobs.rows, []string{j.Kind, j.State, fmt.Sprint(j.Count), duration(j.Oldest)})
	}
	catalogs := table{[]string{"CATALOG", "RELEASE SERVED SINCE", "HELD"}, nil}
	for _, c := range r.Catalogs {
		held := "no"
		if c.Held {
			held = "yes"
		}
		catalogs.rows = append(catalogs.rows, []string{c.Catalog, duration(c.Age), held})
	}
	return []table{latency("KIND", r.Latencies), latency("BUSIEST", r.Busiest), kept, pools, jobs, catalogs}
}

// rate formats a number per second, with a decimal below 10.
func rate(perSecond float64) string {
	switch {
	case perSecond > 0 && perSecond < .05:
		return "<0.1"
	case perSecond > 0 && perSecond < 9.95:
		return fmt.Sprintf("%.1f", perSecond)
	}
	return fmt.Sprintf("%.0f", perSecond)
}

// millis formats milliseconds; nil is a dash.
func millis(ms *float64) string {
	switch {
	case ms == nil:
		return "-"
	case *ms >= 1000:
		return fmt.Sprintf("%.1f s", *ms/1000)
	case *ms >= 10:
		return fmt.Sprintf("%.0f ms", *ms)
	}
	return fmt.Sprintf("%.1f ms", *ms)
}

func size(bytes float64) string {
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if bytes < 1024 {
			return fmt.Sprintf("%.0f %s", bytes, unit)
		}
		bytes /= 1024
	}
	return fmt.Sprintf("%.1f GiB", bytes)
}

// duration has at most two units.
func duration(seconds float64) string {
	s := int(seconds)
	switch {
	case s >= 86400:
		return fmt.Sprintf("%dd%dh", s/86400, s%86400/3600)
	case s >= 3600:
		return fmt.Sprintf("%dh%dm", s/3600, s%3600/60)
	case s >= 60:
		return fmt.Sprintf("%dm%ds", s/60, s%60)
	}
	return fmt.Sprintf("%ds", s)
}
