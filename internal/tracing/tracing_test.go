package tracing_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/tracing"
)

// TestEndpointThatIsNoURL: a collector's URL that cannot be parsed is an error without the URL. The library would log it with the password.
func TestEndpointThatIsNoURL(t *testing.T) {
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		for _, address := range []string{"http://portico:p%z2024@host:4318", "http://portico:p@2024/x@host:4318"} {
			t.Run(name+address, func(t *testing.T) {
				t.Setenv(name, address)
				_, err := tracing.New(t.Context(), "test", "SQLite", slog.New(slog.DiscardHandler))
				require.ErrorContains(t, err, name+" cannot be parsed: percent-encode its user and password")
				require.NotContains(t, err.Error(), "2024")
			})
		}
	}
}
