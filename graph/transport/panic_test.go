package transport_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/document"
	transportx "portico/graph/transport"
	"portico/store"
)

// A panic ends one operation, as INTERNAL without its text, over every transport and at each step.
func TestPanicsLeaveOverNoTransport(t *testing.T) {
	t.Parallel()
	const query = `{ settings { currency } }`
	for step, option := range map[string]transportx.Option{
		"prepared": transportx.CountDocuments(func(string) { panic("the panic's text") }),
		"planned":  transportx.CountExecutors(func(string) { panic("the panic's text") }),
		"run":      transportx.CountFields(func(context.Context, string) { panic("the panic's text") }),
	} {
		for _, transport := range transports {
			t.Run(step+" over "+transport, func(t *testing.T) {
				t.Parallel()
				for _, options := range [][]transportx.Option{{option}, {option, transportx.WithoutPlans()}} {
					l := newStreams(t, func(*transportx.StreamConfig) {}, options...)
					for range 2 {
						got := l.over(t, transport, map[string]any{"query": query, "documentId": document.Hash(query)})
						require.Equal(t, []store.Code{store.Internal}, got.codes())
						text, err := json.Marshal(got)
						require.NoError(t, err)
						require.NotRegexp(t, `panic|goroutine|\.go\b`, string(text))
						require.Equal(t, "An internal error has occurred.", got.Errors[0].Message)
					}
				}
			})
		}
	}
}
