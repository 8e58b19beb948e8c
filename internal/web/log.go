package web

import (
	"context"
	"log/slog"

	"portico/internal/incoming"
)

// Logger is a log whose every line tells the id of the request that its
// context belongs to, as request_id, and the trace, as trace_id.
func Logger(log *slog.Logger) *slog.Logger {
	if _, already := log.Handler().(requestHandler); already {
		return log
	}
	return slog.New(requestHandler{log.Handler()})
}

type requestHandler struct{ slog.Handler }

func (h requestHandler) Handle(ctx context.Context, record slog.Record) error {
	if known := incoming.From(ctx); known != nil && (known.ID != "" || known.TraceID != "") {
		record = record.Clone()
		if known.ID != "" {
			record.AddAttrs(slog.String("request_id", known.ID))
		}
		if known.TraceID != "" {
			record.AddAttrs(slog.String("trace_id", known.TraceID))
		}
	}
	return h.Handler.Handle(ctx, record)
}

func (h requestHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return requestHandler{h.Handler.WithAttrs(attributes)}
}

func (h requestHandler) WithGroup(name string) slog.Handler {
	return requestHandler{h.Handler.WithGroup(name)}
}
