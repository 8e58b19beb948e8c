package accesslog_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/reqctx"
	"portico/internal/web/accesslog"
)

func TestLoggerAddsTraceIDOfJob(t *testing.T) {
	t.Parallel()
	var written bytes.Buffer
	log := accesslog.NewLogger(slog.New(slog.NewJSONHandler(&written, nil)))
	log.WarnContext(reqctx.WithTraceID(context.Background(), "0af7651916cd43dd8448eb211c80319c"), "within")
	require.Contains(t, written.String(), `"trace_id":"0af7651916cd43dd8448eb211c80319c"`)
	written.Reset()
	log.WarnContext(context.Background(), "beside")
	require.NotContains(t, written.String(), "trace_id")
}
