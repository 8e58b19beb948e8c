package cli

import (
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	var grammar struct {
		Serve struct {
			DatabaseURL string
			LogLevel    string
			AdminPort   int
		} `cmd:""`
	}
	parser, err := kong.New(&grammar, kong.DefaultEnvars("PORTICO"))
	require.NoError(t, err)
	for variable, want := range map[string]string{
		"PORTICO_DATABASE_URL=x":                "",
		"PORTICO_LOG_LEVEL=":                    "",
		"PATH=/bin":                             "",
		"PORTICO_SERVICE_HOST=10.0.0.1":         "",
		"PORTICO_PORT=tcp://10.0.0.1:80":        "",
		"PORTICO_WEB_PORT_80_TCP_ADDR=10.0.0.1": "",
		"PORTICO_PORT_80_TCP_PORT=80":           "",
		"PORTICO_PORT_80_TCP=tcp://10.0.0.1:80": "",
		"PORTICO_SERVICE_PORT=80":               "",
		"PORTICO_WEB_SERVICE_PORT_HTTP=80":      "",
		"PORTICO_DATABASE_ULR=x":                "Did you mean PORTICO_DATABASE_URL?",
		"PORTICO_LOGLEVEL=debug":                "Did you mean PORTICO_LOG_LEVEL?",
		"PORTICO_PORT=8080":                     "unknown environment variable PORTICO_PORT",
		"PORTICO_ADMINPORT=1":                   "Did you mean PORTICO_ADMIN_PORT?",
		"PORTICO_ANYTHING_ELSE=1":               "PORTICO_ANYTHING_ELSE. Unset it",
	} {
		err := checkEnvironment(parser, []string{"HOME=/", variable})
		if want == "" {
			require.NoError(t, err, variable)
			continue
		}
		require.ErrorAs(t, err, new(*UsageError), variable)
		require.ErrorContains(t, err, want, variable)
	}
}
