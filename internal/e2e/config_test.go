package e2e

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

type configured struct {
	Flags, Environment []struct {
		Name, From string
		Value      any
	}
}

// configOf returns the output of portico config --json in an environment.
func configOf(t *testing.T, environment []string, args ...string) (is configured, printed string) {
	t.Helper()
	var both strings.Builder
	for _, format := range []string{"text", "json"} {
		var out, complaints bytes.Buffer
		c := command(append([]string{"config", "--format", format}, args...)...)
		c.Env = append(c.Env, environment...)
		c.Stdout, c.Stderr = &out, &complaints
		require.NoError(t, c.Run(), "%s", &complaints)
		both.WriteString(out.String() + complaints.String())
		if format == "json" {
			require.NoError(t, json.Unmarshal(out.Bytes(), &is))
		}
	}
	return is, both.String()
}

func (c configured) flag(name string) (value any, from string) {
	for _, flag := range c.Flags {
		if flag.Name == name {
			return flag.Value, flag.From
		}
	}
	return nil, "nowhere"
}

func TestConfigPrintsValuesAndSources(t *testing.T) {
	t.Parallel()
	is, text := configOf(t, []string{"PORTICO_SLOW=3s", "PORTICO_CORS_ORIGIN=https://a.example,https://b.example"}, "--document-depth", "7",
		"--key-file", "k")
	for name, want := range map[string][]any{
		"addr": {"127.0.0.1:8080", "default"}, "slow": {"3s", "environment"}, "document-depth": {7.0, "flag"}, "demo": {false, "default"},
		"cors-origin": {[]any{"https://a.example", "https://b.example"}, "environment"}, "request-time": {"1m0s", "default"},
		"seal-key": {"", "default"},
	} {
		value, from := is.flag(name)
		require.Equal(t, want, []any{value, from}, name)
	}
	require.Regexp(t, `(?m)^--document-depth +7 +flag$`, text)
	help := mustRun(t, "serve", "--help-all")
	for _, flag := range is.Flags {
		require.Contains(t, help, "--"+flag.Name)
	}
	require.Equal(t, strings.Count(help, "\n  --")+strings.Count(help, "\n      --"), len(is.Flags), "all flags of serve")

	is, _ = configOf(t, nil, "--demo", "--code-rate-client", "5")
	value, from := is.flag("code-rate-address")
	require.Equal(t, []any{0.0, "--demo"}, []any{value, from})
	value, from = is.flag("code-rate-client")
	require.Equal(t, []any{5.0, "flag"}, []any{value, from})

	code, _, stderr := portico(t, "config", "--document-depth", "-1")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--document-depth")
}

// TestConfigMasksSecrets sets each flag and variable that can hold a secret, in several notations.
func TestConfigMasksSecrets(t *testing.T) {
	t.Parallel()
	const canary = "CanaryYellow"
	for _, given := range [][2]string{
		{"seal-key", canary},
		{"database-url", "postgres://user:" + canary + "@db.example/shop"},
		{"database-url", "postgres://user:a@" + canary + "@db.example/shop?sslmode=disable"},
		{"database-url", "postgres://user:a/" + canary + "@one.example,two.example:5432/shop"},
		{"database-url", "postgres://user:a?" + canary + "#@one.example/shop"},
		{"database-url", "postgresql://db.example/shop?sslmode=disable&password=" + canary},
		{"database-url", "postgres://db.example/shop?user=me&sslpassword=" + canary + "&unknown=" + canary},
		{"database-url", "postgres://db.example/shop?" + canary},
		{"database-url", "postgres://user@db.example/shop?password=a@" + canary},
	} {
		twin := "PORTICO_" + strings.ToUpper(strings.ReplaceAll(given[0], "-", "_"))
		for _, way := range []string{"flag", "environment"} {
			var is configured
			var printed string
			if way == "flag" {
				is, printed = configOf(t, nil, "--"+given[0], given[1])
			} else {
				is, printed = configOf(t, []string{twin + "=" + given[1]})
			}
			require.NotContains(t, printed, canary, given[1])
			value, from := is.flag(given[0])
			require.Equal(t, way, from)
			require.Contains(t, value, "***")
		}
	}
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_HEADERS=authorization=" + canary, "PGPASSWORD=" + canary,
		"OTEL_RESOURCE_ATTRIBUTES=key=" + canary,
		"OTEL_EXPORTER_OTLP_ENDPOINT=https://user:" + canary + "@collector.example/?key=" + canary} {
		name, _, _ := strings.Cut(variable, "=")
		_, printed := configOf(t, []string{variable})
		require.NotContains(t, printed, canary)
		require.Contains(t, printed, name)
	}
}

// TestLimitsAreLoggedAtStart requires all limits of --help-all in the log, with their effective
// values.
func TestLimitsAreLoggedAtStart(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--demo", "--document-depth", "9", "--log-level", "debug")
	testkit.Eventually(t, true, func() bool { return s.logs("limits") })
	require.Zero(t, s.stop())
	is, _ := configOf(t, nil, "--demo", "--document-depth", "9", "--log-level", "debug")
	logged := map[string]any{}
	for _, line := range s.log {
		if line["msg"] == "limits" {
			logged = line
		}
	}
	_, help, _ := strings.Cut(mustRun(t, "serve", "--help-all"), "\nHTTP limits:\n")
	help, _, _ = strings.Cut(help, "\n\nRetention:\n")
	flags := regexp.MustCompile(`(?m)^  --([a-z-]+)=`).FindAllStringSubmatch(help, -1)
	require.Greater(t, len(flags), 40)
	for _, flag := range flags {
		value, from := is.flag(flag[1])
		require.NotEqual(t, "nowhere", from, flag[1])
		require.Contains(t, logged, flag[1])
		require.Equal(t, value, logged[flag[1]], flag[1])
	}
	require.Equal(t, 0.0, logged["code-rate-client"], "no limit in the demo")
}
