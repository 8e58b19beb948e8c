package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"
)

// BoundsGroup is the heading in --help of what is bounded.
const BoundsGroup = "Bounds"

// Config prints what is in force of a command's flags F.
type Config[F any] struct {
	Flags  F      `embed:""`
	Format string `enum:"text,json" placeholder:"FORMAT" default:"text" help:"How to print it: text, or json. Default: ${default}."`
}

// inspected are flags that can be printed.
type inspected interface {
	Validate() error
	InForce(command *kong.Context) []Setting
}

// Validate checks what kong cannot.
func (c *Config[F]) Validate() error { return any(&c.Flags).(inspected).Validate() }

// Run prints what is in force.
func (c *Config[F]) Run(streams Streams, command *kong.Context) error {
	return writeConfig(streams.Out, c.Format, any(&c.Flags).(inspected).InForce(command), Environment())
}

// Setting is a flag with what is in force.
type Setting struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // a text, a number, a truth, or a list of texts
	From  string `json:"from"`  // flag, environment, default, or --demo
	group string
}

// Where a setting comes from.
const (
	fromFlag        = "flag"
	fromEnvironment = "environment"
	fromDefault     = "default"
)

// masked stands for what is secret.
const masked = "***"

// Settings are the flags of a command as they are in force, in the order of
// --help. Secrets are masked.
func Settings(command *kong.Context) (list []Setting) {
	for _, flag := range command.Flags() {
		if flag.Name == "help" || flag.Name == "format" {
			continue
		}
		is := Setting{Name: flag.Name, Value: shown(flag), From: origin(command, flag)}
		if flag.Group != nil {
			is.group = flag.Group.Key
		}
		list = append(list, is)
	}
	return list
}

// Bounds are the settings of what is bounded, as a log has them.
func Bounds(command *kong.Context) (attributes []any) {
	for _, setting := range Settings(command) {
		if setting.group == BoundsGroup {
			attributes = append(attributes, setting.Name, setting.Value)
		}
	}
	return attributes
}

// origin is where a flag's value comes from.
func origin(command *kong.Context, flag *kong.Flag) string {
	for _, part := range command.Path {
		if part.Flag == flag {
			return fromFlag
		}
	}
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return fromEnvironment
		}
	}
	return fromDefault
}

// shown is a flag's value as it may be seen.
func shown(flag *kong.Flag) any {
	value := flag.Target
	if flag.Tag.Has("secret") {
		if value.IsZero() {
			return ""
		}
		return masked
	}
	switch is := value.Interface().(type) {
	case time.Duration:
		return is.String()
	case []string:
		list := make([]string, len(is))
		for i, text := range is {
			list[i] = maskURL(text)
		}
		return list
	}
	if value.Kind() == reflect.String {
		return maskURL(value.String())
	}
	return value.Interface()
}

// harmlessParameters are the parameters of a URL whose values are no secrets.
var harmlessParameters = []string{"sslmode", "target_session_attrs", "application_name", "connect_timeout", "default_query_exec_mode", "pool_max_conns",
	"pool_min_conns", "pool_max_conn_lifetime", "pool_max_conn_idle_time", "pool_health_check_period", "statement_timeout", "lock_timeout",
	"idle_in_transaction_session_timeout", "search_path", "statement_cache_capacity", "timezone"}

// credentials are those before the host of a URL. What stands before its last
// @ may be a password that nobody encoded.
var credentials = regexp.MustCompile(`^([a-z0-9+.-]+://)([^:@/?#]*)(:?)(.*)@([^@]*)$`)

// maskURL masks what may be secret of a URL: a password, and parameters that
// are not known to be harmless. Another text is left as it is.
func maskURL(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	if parts := credentials.FindStringSubmatch(text); parts != nil {
		text = parts[1] + parts[2] + parts[3]
		if parts[3] != "" || parts[4] != "" {
			text += masked
		}
		text += "@" + parts[5]
	}
	before, query, has := strings.Cut(text, "?")
	if !has {
		return text
	}
	parameters := strings.Split(query, "&")
	for i, parameter := range parameters {
		name, _, assigned := strings.Cut(parameter, "=")
		switch {
		case !assigned:
			parameters[i] = masked
		case !slices.Contains(harmlessParameters, strings.ToLower(name)):
			parameters[i] = name + "=" + masked
		}
	}
	return before + "?" + strings.Join(parameters, "&")
}

// known are the environment's variables that count beside those of flags, by
// how they begin; values of those that are named may be seen.
var (
	known       = []string{"OTEL_", "PG", "GOMEMLIMIT=", "GOGC=", "SSL_CERT_"}
	shownValues = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER",
		"OTEL_TRACES_SAMPLER_ARG", "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED", "GOMEMLIMIT", "GOGC", "PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGSSLMODE"}
)

// Environment is what counts of the environment beside flags. Secrets are
// masked, and all that could be one.
func Environment() (list []Setting) {
	for _, variable := range os.Environ() {
		if !slices.ContainsFunc(known, func(begins string) bool { return strings.HasPrefix(variable, begins) }) {
			continue
		}
		name, value, _ := strings.Cut(variable, "=")
		if !slices.Contains(shownValues, name) {
			value = masked
		}
		list = append(list, Setting{Name: name, Value: maskURL(value), From: fromEnvironment})
	}
	slices.SortFunc(list, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// writeConfig writes what is in force, as text or JSON.
func writeConfig(w io.Writer, format string, flags, environment []Setting) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Flags       []Setting `json:"flags"`
			Environment []Setting `json:"environment"`
		}{flags, slices.Concat([]Setting{}, environment)})
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, setting := range flags {
		fmt.Fprintf(table, "--%s\t%s\t%s\n", setting.Name, inText(setting.Value), setting.From)
	}
	for _, setting := range environment {
		fmt.Fprintf(table, "%s\t%s\t%s\n", setting.Name, inText(setting.Value), setting.From)
	}
	return table.Flush()
}

// inText is a value in a table: one that has nothing to be seen is a dash.
func inText(value any) string {
	if list, ok := value.([]string); ok {
		value = strings.Join(list, ",")
	}
	if value == "" {
		return "-"
	}
	return fmt.Sprint(value)
}
