// Package tracing sends OpenTelemetry spans by OTLP over HTTP if the environment names a collector (Configured); else it does nothing. Spans name
// routes, operations and statements, and contain no values. It must not import packages of this module but store and reqctx.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
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

// Environment variables of OpenTelemetry. Its library reads the others: headers, timeouts, samplers, batches, resources.
const (
	endpointEnv       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	tracesEndpointEnv = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	protocolEnv       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	tracesProtocolEnv = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	exporterEnv       = "OTEL_TRACES_EXPORTER"
	disabledEnv       = "OTEL_SDK_DISABLED"
)

// closeTimeout limits the time to send the last spans on shutdown.
const closeTimeout = 3 * time.Second

// Tracing sends spans. A nil Tracing does nothing.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	dbSystem attribute.KeyValue
	log      *slog.Logger
}

// Configured reports whether the environment names a collector by one of the two endpoints, and neither disables OpenTelemetry nor
// names another exporter than otlp.
func Configured() bool {
	exporter := os.Getenv(exporterEnv)
	return (os.Getenv(endpointEnv) != "" || os.Getenv(tracesEndpointEnv) != "") &&
		!strings.EqualFold(os.Getenv(disabledEnv), "true") && (exporter == "" || exporter == "otlp")
}

// New connects to the collector that the environment names; nil if it names none. backend is the kind of database, for example SQLite. An unreachable
// collector is logged and blocks nothing.
func New(ctx context.Context, version, backend string, log *slog.Logger) (*Tracing, error) {
	if !Configured() {
		return nil, nil
	}
	for _, name := range []string{tracesProtocolEnv, protocolEnv} { // the first that is set counts
		switch protocol := os.Getenv(name); protocol {
		case "":
			continue
		case "http/protobuf":
		default:
			return nil, fmt.Errorf("%s must be http/protobuf or unset, got %q", name, protocol)
		}
		break
	}
	for _, name := range []string{endpointEnv, tracesEndpointEnv} {
		address := strings.TrimSpace(os.Getenv(name))
		if _, err := url.Parse(address); err != nil || store.CheckURL(address) != nil { // the library would log it
			return nil, fmt.Errorf("%s cannot be parsed: percent-encode its user and password", name)
		}
	}
	otel.SetErrorHandler(&errorLogger{log: log})
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", endpointEnv, err)
	}
	res, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "portico"), attribute.String("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	return &Tracing{provider: provider, tracer: provider.Tracer("portico"), dbSystem: attribute.String("db.system.name", dbSystemName(backend)), log: log}, nil
}

// dbSystemName returns the OpenTelemetry name of a database backend.
func dbSystemName(backend string) string {
	if strings.EqualFold(backend, "sqlite") {
		return "sqlite"
	}
	return "postgresql"
}

// Close sends the remaining spans.
func (t *Tracing) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("cannot send the last spans", "error", err)
	}
}

// Jobs returns a context in which each job and sweep is a trace of its own, with a span budget of its own. observer.Begin replaces
// this observer for each, so nothing spends its budget.
func (t *Tracing) Jobs(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	return store.WithObserver(ctx, &observer{tracing: t, budget: newSpanBudget()})
}

// errorLogger logs at most one error of the OpenTelemetry library a minute.
type errorLogger struct {
	log  *slog.Logger
	mu   sync.Mutex
	last time.Time
}

// Handle implements otel.ErrorHandler.
func (l *errorLogger) Handle(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.last) < time.Minute {
		return
	}
	l.last = time.Now()
	l.log.Warn("cannot send spans", "error", err)
}
