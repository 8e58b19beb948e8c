package accesslog

import (
	"context"
	"log/slog"

	"portico/internal/reqctx"
)

// NewLogger adds to each line the request_id of its context, and the trace_id of the request, job or sweep.
func NewLogger(log *slog.Logger) *slog.Logger {
	if _, already := log.Handler().(contextHandler); already {
		return log
	}
	return slog.New(contextHandler{log.Handler()})
}

// contextHandler is the handler of NewLogger.
type contextHandler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h contextHandler) Handle(ctx context.Context, record slog.Record) error {
	id, trace := "", reqctx.TraceID(ctx)
	if req := reqctx.From(ctx); req != nil {
		id = req.ID
	}
	if id != "" || trace != "" {
		record = record.Clone()
	}
	if id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}
	if trace != "" {
		record.AddAttrs(slog.String("trace_id", trace))
	}
	return h.Handler.Handle(ctx, record)
}

func (h contextHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return contextHandler{h.Handler.WithAttrs(attributes)}
}

func (h contextHandler) WithGroup(name string) slog.Handler {
	return contextHandler{h.Handler.WithGroup(name)}
}
