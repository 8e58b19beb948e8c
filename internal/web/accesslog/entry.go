package accesslog

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// WithLineWriter makes the access log write its lines to lines itself, in the same bytes as slog but faster, if the log
// is a slog.JSONHandler on lines without attributes of its own.
func WithLineWriter(lines *LineWriter) Option {
	return func(a *AccessLog) {
		if handler, ok := a.log.Handler().(contextHandler); ok {
			if _, ok := handler.Handler.(*slog.JSONHandler); ok {
				a.out = lines
			}
		}
	}
}

// entry is what the access log says about a request.
type entry struct {
	method, path, query, client, operation string // the last three are omitted if empty
	status                                 int
	bytes                                  int64
	duration                               time.Duration
}

// log writes the entry through slog.
func (e *entry) log(ctx context.Context, log *slog.Logger, level slog.Level) {
	attributes := append(make([]slog.Attr, 0, 8), slog.String("method", e.method), slog.String("path", e.path),
		slog.Int("status", e.status), slog.Int64("bytes", e.bytes), slog.Float64("duration_ms", milliseconds(e.duration)))
	if e.query != "" {
		attributes = append(attributes, slog.String("query", e.query))
	}
	if e.client != "" {
		attributes = append(attributes, slog.String("client", e.client))
	}
	if e.operation != "" {
		attributes = append(attributes, slog.String("operation", e.operation))
	}
	log.LogAttrs(ctx, level, "request", attributes...)
}

var entryBuffers = sync.Pool{New: func() any { line := make([]byte, 0, 512); return &line }}

// write writes the same line as log, without the cost of slog.
func (e *entry) write(to *LineWriter, at time.Time, level slog.Level, id, trace string) {
	kept := entryBuffers.Get().(*[]byte)
	line := append((*kept)[:0], `{"time":"`...)
	line = append(at.AppendFormat(line, time.RFC3339Nano), `","level":"`...)
	line = append(line, level.String()...)
	line = append(append(line, `","msg":"request","method":"`...), e.method...)
	line = append(append(line, `","path":"`...), e.path...)
	line = strconv.AppendInt(append(line, `","status":`...), int64(e.status), 10)
	line = strconv.AppendInt(append(line, `,"bytes":`...), e.bytes, 10)
	line = strconv.AppendFloat(append(line, `,"duration_ms":`...), milliseconds(e.duration), 'f', -1, 64)
	for _, member := range [...]struct{ name, value string }{{`,"query":"`, e.query}, {`,"client":"`, e.client}, {`,"operation":"`, e.operation}, {`,"request_id":"`, id}, {`,"trace_id":"`, trace}} {
		if member.value != "" {
			line = append(append(append(line, member.name...), member.value...), '"')
		}
	}
	line = append(line, '}', '\n')
	to.Add(line)
	*kept = line
	entryBuffers.Put(kept)
}

// plainASCII reports whether no text of the entry needs escaping. Others are rare and go through slog.
func (e *entry) plainASCII() bool {
	return plainASCII(e.method) && plainASCII(e.path) && plainASCII(e.query) && plainASCII(e.client) && plainASCII(e.operation)
}

// plainASCII reports whether JSON needs no escape for a text.
func plainASCII(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
