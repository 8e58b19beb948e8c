package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"portico/store/storetest/testkit"
)

const runbookPage = "docs/runbook.md"

// alert is an alert of packaging/alerts.yml.
type alert struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func alerts(t *testing.T) (all []alert) {
	t.Helper()
	text, err := os.ReadFile("packaging/alerts.yml")
	require.NoError(t, err)
	var file struct {
		Groups []struct{ Rules []alert }
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	require.NotEmpty(t, all)
	return all
}

// TestRunbookCoversAllAlerts requires a section of the run book for each alert, and
// no other section.
func TestRunbookCoversAllAlerts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(runbookPage)
	require.NoError(t, err)
	parts := strings.Split(string(text), "\n## ")[1:]
	sections := make(map[string]string, len(parts))
	for _, part := range parts {
		name, body, _ := strings.Cut(part, "\n")
		sections[name] = body
	}
	var named []string
	for _, a := range alerts(t) {
		named = append(named, a.Alert)
		body, ok := sections[a.Alert]
		require.True(t, ok, "%s has no section", a.Alert)
		for _, word := range []string{"**Means**", "**Look at**", "**Do**"} {
			require.Contains(t, body, word, a.Alert)
		}
		if page, has := a.Annotations["runbook_url"]; has { // Alertmanager links it from elsewhere
			require.Regexp(t, `^https?://`, page, a.Alert)
		}
		require.NotEmpty(t, a.Annotations["summary"], a.Alert)
		require.Contains(t, []string{"page", "ticket"}, a.Labels["severity"], a.Alert)
	}
	for name := range sections {
		require.Contains(t, named, name, "sections without an alert")
	}
	for _, link := range regexp.MustCompile(`\]\(#(\w+)\)`).FindAllStringSubmatch(string(text), -1) {
		require.Contains(t, strings.ToLower(strings.Join(named, " ")), link[1])
	}
}

// TestRunbookCommands runs the commands of the run book. A 4xx or 5xx response
// fails them.
func TestRunbookCommands(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			testkit.SkipMissing(t, tool, "the run book's commands need it")
		}
	}
	text, err := os.ReadFile(runbookPage)
	require.NoError(t, err)
	s := startServer(t, "--demo", "--admin-addr", "127.0.0.1:0")
	blocks := documentBlocks(string(text))
	require.GreaterOrEqual(t, len(blocks), 3)
	for _, block := range blocks {
		if block.language == "sh" {
			runCommands(t, t.TempDir(), environment(), strings.NewReplacer("http://127.0.0.1:9090", s.admin, "curl -s ",
				"curl -sf ").Replace(block.text))
		}
	}
}

var (
	metricName = regexp.MustCompile(`\b(portico|process|go)_[a-z_]+[a-z]\b`)
	selector   = regexp.MustCompile(`\b((?:portico|process|go)_[a-z_]+[a-z])\{([^}]*)\}`)
	labelName  = regexp.MustCompile(`(\w+)\s*[=!]~?"`)
	grouping   = regexp.MustCompile(`\b(?:by|without) \(([^)]*)\)`)
)

// TestNamedMetricsExist requires that a server exposes the metrics and labels that alerts,
// README.md and docs name. Prometheus adds job and instance.
func TestNamedMetricsExist(t *testing.T) {
	t.Parallel()
	exposed := exposedMetrics(t)
	files, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, file := range append(files, "README.md", "packaging/alerts.yml") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, name := range metricName.FindAllString(string(text), -1) {
			require.True(t, strings.Contains(exposed, "\n"+name), "%s names %s, which no server exposes", file, name)
		}
		for _, match := range selector.FindAllStringSubmatch(string(text), -1) {
			for _, label := range labelName.FindAllStringSubmatch(match[2], -1) {
				if label[1] != "job" && label[1] != "instance" {
					requireLabel(t, exposed, match[1], label[1], file)
				}
			}
		}
	}
	for _, a := range alerts(t) {
		for _, match := range grouping.FindAllStringSubmatch(a.Expr, -1) {
			for label := range strings.SplitSeq(match[1], ",") {
				if label = strings.TrimSpace(label); label != "instance" {
					requireLabel(t, exposed, metricName.FindString(a.Expr), label, a.Alert)
				}
			}
		}
	}
}

func requireLabel(t *testing.T, exposed, metric, label, where string) {
	t.Helper()
	require.True(t, regexp.MustCompile(`(?m)^`+metric+`\{[^}]*\b`+label+`="`).MatchString(exposed),
		"%s has %s by %s, which no server exposes", where, metric, label)
}

// exposedMetrics returns the metrics of a server that has handled each kind of request and has an
// unfinished job.
func exposedMetrics(t *testing.T) (exposed string) {
	t.Helper()
	url, _ := database(t)
	writer := openDemo(t, url[1])
	_, token := writer.issue(t)
	s := writer.serve(t, "--admin-addr", "127.0.0.1:0")
	bearer := []string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}
	s.send(t, "GET", "/v2/inventories", "", bearer...)
	s.send(t, "POST", "/graphql", `{"query":"query Page { settings { pageLength } }","operationName":"Page"}`, bearer...)
	s.send(t, "POST", "/graphql", `{"query":"{ nothing }"}`, bearer...)
	s.send(t, "POST", "/graphql", `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"`+strings.Repeat("0", 64)+`"}}}`, bearer...)
	s.events(t, token, espressos).next()
	s.url = s.admin
	testkit.Eventually(t, true, func() bool {
		_, err := writer.Publisher.PublishLater(t.Context(), "test", "catalog-coffee", true)
		require.NoError(t, err)
		_, exposed = s.send(t, "GET", "/metrics", "")
		return strings.Contains(exposed, "\nportico_jobs{") && strings.Contains(exposed, "\nportico_sweep_age_seconds{")
	})
	return exposed
}
