// Package tracing tells a collector of OpenTelemetry what the server does, by
// OTLP over HTTP, where the standard environment names one
// (OTEL_EXPORTER_OTLP_ENDPOINT); else nothing of it runs. Spans name routes,
// operations and statements, and no value of anything. It may import the words
// of store, and what is known of a request.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"portico/store"
)

// The environment, as OpenTelemetry names it. What it has beside these, headers,
// timeouts, samplers, batches and resources, is its own library's to read.
const (
	endpointEnv       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpointEnv = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	protocolEnv       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocolEnv = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	exporterEnv       = "OTEL_TRACES_EXPORTER"
	disabledEnv       = "OTEL_SDK_DISABLED"
)

// closeTimeout bounds how long a server that ends waits for its last spans.
const closeTimeout = 3 * time.Second

// Tracing is where spans go. A nil one is nowhere, and costs nothing.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	engine   attribute.KeyValue
	log      *slog.Logger
}

// Configured tells whether the environment names a collector.
func Configured() bool {
	exporter := os.Getenv(exporterEnv)
	return (os.Getenv(endpointEnv) != "" || os.Getenv(tracesEndpointEnv) != "") &&
		!strings.EqualFold(os.Getenv(disabledEnv), "true") && (exporter == "" || exporter == "otlp")
}

// New connects to the collector that the environment names; nil where it names
// none. engine is that of the database. A collector that is away is told in the
// log, and holds nobody up.
func New(ctx context.Context, version, engine string, log *slog.Logger) (*Tracing, error) {
	if !Configured() {
		return nil, nil
	}
	for _, name := range []string{tracesProtocolEnv, protocolEnv} {
		switch protocol := os.Getenv(name); protocol {
		case "":
			continue
		case "http/protobuf":
		default:
			return nil, fmt.Errorf("%s must be http/protobuf, which is the one that is spoken here, or be left out; it is %q", name, protocol)
		}
		break
	}
	otel.SetErrorHandler(&errorLogger{log: log})
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", endpointEnv, err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "portico"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
	return &Tracing{provider: provider, tracer: provider.Tracer("portico"), engine: attribute.String("db.system.name", systemOf(engine)), log: log}, nil
}

func systemOf(engine string) string {
	if strings.EqualFold(engine, "sqlite") {
		return "sqlite"
	}
	return "postgresql"
}

// Close sends what waits.
func (t *Tracing) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("the last spans could not be sent", "error", err)
	}
}

// Jobs has the jobs and sweeps that are done under a context be traced, each as
// a trace of its own.
func (t *Tracing) Jobs(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return store.WithObserver(ctx, &observer{tracing: t, budget: newSpanBudget()})
}

// errorLogger are the library's, of which the log tells one a minute.
type errorLogger struct {
	log  *slog.Logger
	mu   sync.Mutex
	last time.Time
}

// Handle implements otel.ErrorHandler.
func (c *errorLogger) Handle(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.last) < time.Minute {
		return
	}
	c.last = time.Now()
	c.log.Warn("spans could not be sent", "error", err)
}
