package cli

import (
	"fmt"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"portico/internal/cli/help"
	"portico/store"
)

// Config prints the effective values of the flags F of a command.
type Config[F any] struct {
	Flags F `embed:""`
	Output
	Format string `hidden:"" enum:"text,json" placeholder:"FORMAT" default:"text" help:"Output format: text, or json, which is --json."`
}

// configurable are flags that Config can print.
type configurable interface {
	Validate() error
	Effective(command *kong.Context) []Setting
}

// Help is the long description.
func (c *Config[F]) Help() string {
	return "The command takes all flags of serve. Secrets are masked. " + jsonHelp(configuration{
		Flags:       []Setting{{Name: "addr", Value: ":8080", From: fromFlag}},
		Environment: []Setting{{Name: "GOGC", Value: "50", From: fromEnvironment}},
	})
}

// Validate checks what the parser cannot.
func (c *Config[F]) Validate() error { return any(&c.Flags).(configurable).Validate() }

// Run prints the settings.
func (c *Config[F]) Run(streams Streams, command *kong.Context) error {
	c.JSON = c.JSON || c.Format == "json"
	return c.print(streams, configuration{any(&c.Flags).(configurable).Effective(command), Environment()})
}

// Setting is the effective value of a flag.
type Setting struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // a string, a number, a boolean, or a list of strings
	From  string `json:"from"`
	group string // key of help.FlagGroups; empty for none
}

// The sources of a setting.
const (
	fromFlag        = "flag"
	fromEnvironment = "environment"
	fromDefault     = "default"
	fromDemo        = "--demo"
)

// mask replaces secrets.
const mask = "***"

// Settings returns the effective flags of a command, in the order of --help,
// with secrets masked. Flags without a variable, and those of the output, are no
// settings.
func Settings(command *kong.Context) (list []Setting) {
	for _, flag := range command.Flags() {
		if len(flag.Envs) > 0 && flag.Name != "format" && flag.Name != "json" {
			list = append(list, Setting{flag.Name, displayValue(flag), settingSource(command, flag), help.GroupKey(flag)})
		}
	}
	return list
}

// Limits returns the effective limits as attributes of a log entry.
func Limits(command *kong.Context) (attributes []any) {
	for _, setting := range Settings(command) {
		if help.IsLimit(setting.group) {
			attributes = append(attributes, setting.Name, setting.Value)
		}
	}
	return attributes
}

// IsSet reports whether a flag was set on the command line or by the
// environment.
func IsSet(command *kong.Context, flag string) bool {
	for _, f := range command.Flags() {
		if f.Name == flag {
			return settingSource(command, f) != fromDefault
		}
	}
	return false
}

// settingSource returns the source of a flag's value.
func settingSource(command *kong.Context, flag *kong.Flag) string {
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

// displayValue is the value of a flag, without secrets.
func displayValue(flag *kong.Flag) any {
	value := flag.Target
	if flag.Tag.Has("secret") {
		if value.IsZero() {
			return ""
		}
		return mask
	}
	switch v := value.Interface().(type) {
	case time.Duration:
		return v.String()
	case []string:
		list := make([]string, len(v))
		for i, text := range v {
			list[i] = maskURL(text)
		}
		return list
	}
	if value.Kind() == reflect.String {
		return maskURL(value.String())
	}
	return value.Interface()
}

// harmlessParameters are the parameters of a database URL that hold no secrets.
var harmlessParameters = []string{"sslmode", "target_session_attrs", "application_name", "connect_timeout", "default_query_exec_mode", "pool_max_conns",
	"pool_min_conns", "pool_max_conn_lifetime", "pool_max_conn_idle_time", "pool_health_check_period", "statement_timeout", "lock_timeout",
	"idle_in_transaction_session_timeout", "search_path", "statement_cache_capacity", "timezone"}

// maskURL masks the password of a URL, its parameters except the harmless ones,
// and those without a value, which may be secret themselves. It shows the scheme alone of a URL that cannot be parsed, and returns
// other texts unchanged.
func maskURL(text string) string {
	scheme, _, isURL := strings.Cut(text, "://")
	if !isURL {
		return text
	}
	at, err := url.Parse(text)
	if err != nil || store.CheckURL(text) != nil {
		return scheme + "://" + mask
	}
	parameters := strings.Split(at.RawQuery, "&")
	for i, parameter := range parameters {
		name, _, assigned := strings.Cut(parameter, "=")
		switch {
		case !assigned && parameter != "":
			parameters[i] = mask
		case assigned && !slices.Contains(harmlessParameters, strings.ToLower(name)):
			parameters[i] = name + "=" + mask
		}
	}
	at.RawQuery = strings.Join(parameters, "&")
	return strings.Replace(at.Redacted(), ":xxxxx@", ":"+mask+"@", 1)
}

// The variables of the environment that matter besides those of flags, by prefix;
// and those that hold no secret.
var (
	otherVariables    = []string{"OTEL_", "PG", "GOMEMLIMIT=", "GOGC=", "SSL_CERT_"}
	harmlessVariables = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SERVICE_NAME", "OTEL_TRACES_SAMPLER",
		"OTEL_TRACES_SAMPLER_ARG", "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED", "GOMEMLIMIT", "GOGC", "PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGSSLMODE"}
)

// Environment returns the variables that matter besides those of flags, sorted,
// with the values masked that may be secret.
func Environment() []Setting {
	list := []Setting{}
	for _, variable := range os.Environ() {
		if !slices.ContainsFunc(otherVariables, func(prefix string) bool { return strings.HasPrefix(variable, prefix) }) {
			continue
		}
		name, value, _ := strings.Cut(variable, "=")
		if !slices.Contains(harmlessVariables, name) {
			value = mask
		}
		list = append(list, Setting{Name: name, Value: maskURL(value), From: fromEnvironment})
	}
	slices.SortFunc(list, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// configuration is the result of config.
type configuration struct {
	Flags       []Setting `json:"flags"`
	Environment []Setting `json:"environment"`
}

func (c configuration) String() string {
	rows := [][]string{}
	for _, setting := range c.Flags {
		rows = append(rows, []string{"--" + setting.Name, textValue(setting.Value), setting.From})
	}
	for _, setting := range c.Environment {
		rows = append(rows, []string{setting.Name, textValue(setting.Value), setting.From})
	}
	return table(rows)
}

// textValue is a value in a table: a dash for an empty one.
func textValue(value any) string {
	if list, ok := value.([]string); ok {
		value = strings.Join(list, ",")
	}
	if value == "" {
		return "-"
	}
	return fmt.Sprint(value)
}
