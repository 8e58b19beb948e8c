package packaging

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"portico/internal/app"
	"portico/internal/cli"
	"portico/internal/web"
	"portico/store/storetest/testkit"
)

// These tests compare the files in packaging/ with the program's flags and with each other,
// because the programs that read the files are usually not installed.

// TestMain runs the tests at the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// drainTime is how long the server waits for requests in flight, after --linger.
const drainTime = 20 * time.Second

// parseCommand parses a command line and its environment. It requires that the command has a
// flag for each PORTICO_ variable.
func parseCommand(t *testing.T, environment map[string]string, args ...string) *app.Commands {
	t.Helper()
	c := &app.Commands{}
	parser, err := cli.Parser(c, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	var known []string
	for _, command := range parser.Model.Leaves(false) {
		if len(args) > 0 && command.Name == args[0] && command.Parent == parser.Model.Node {
			known = environmentNames(command)
		}
	}
	for name, value := range environment {
		if strings.HasPrefix(name, "PORTICO_") {
			require.Contains(t, known, name, "portico %s has no flag of that name", args)
			t.Setenv(name, value)
		}
	}
	_, err = parser.Parse(args)
	require.NoError(t, err, "portico %s with %s", args, environment)
	return c
}

// environmentNames returns the environment variables of a command's flags.
func environmentNames(command *kong.Node) (names []string) {
	for _, flags := range command.AllFlags(false) {
		for _, flag := range flags {
			names = append(names, flag.Envs...)
		}
	}
	return names
}

func readPackaging(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("packaging", name))
	require.NoError(t, err)
	return string(text)
}

// requireVersion requires that an image has a version other than latest.
func requireVersion(t *testing.T, image string) {
	t.Helper()
	_, tag, ok := strings.Cut(image, ":")
	require.True(t, ok && tag != "latest" && tag != "", "%s needs a version", image)
}

func TestSystemdUnit(t *testing.T) {
	text, lines := readPackaging(t, "portico.service"), map[string][]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			lines[name] = append(lines[name], value)
		}
	}
	environment := map[string]string{}
	for _, pair := range lines["Environment"] {
		name, value, _ := strings.Cut(pair, "=")
		environment[name] = value
	}
	words := strings.Fields(lines["ExecStart"][0])
	require.Equal(t, "/usr/local/bin/portico", words[0])
	serve := parseCommand(t, environment, words[1:]...).Serve
	require.Equal(t, "file:/var/lib/"+lines["StateDirectory"][0]+"/shop.db", serve.DatabaseURL)
	credential, _, _ := strings.Cut(lines["LoadCredential"][0], ":")
	require.Equal(t, "%d/"+credential, environment["PORTICO_KEY_FILE"])
	stopTimeout, err := time.ParseDuration(lines["TimeoutStopSec"][0])
	require.NoError(t, err)
	require.Greater(t, stopTimeout, serve.Linger+drainTime)
	for name, value := range map[string]string{
		"ProtectSystem": "strict", "NoNewPrivileges": "yes", "MemoryDenyWriteExecute": "yes", "SystemCallArchitectures": "native",
		"RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "CapabilityBoundingSet": "", "User": "portico",
	} {
		require.Equal(t, []string{value}, lines[name], name)
	}
	require.Equal(t, "@system-service", lines["SystemCallFilter"][0])
	require.Equal(t, []string{"on-failure", "0"}, []string{lines["Restart"][0], lines["StartLimitIntervalSec"][0]},
		"systemd must restart it until the database is available")
	require.Contains(t, readPackaging(t, "portico.sysusers.conf"), "\nu portico ")

	checkUnit(t, text)
}

// checkUnit checks the unit with systemd-analyze, if version 250 or newer is installed, which
// knows %d.
func checkUnit(t *testing.T, text string) {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), "systemd-analyze", "--version").Output()
	if words := strings.Fields(string(version)); err != nil || len(words) < 2 || words[1] < "250" {
		t.Log("systemd-analyze of systemd 250 or newer is not installed")
		return
	}
	program, err := os.Executable() // any program that exists
	require.NoError(t, err)
	unit := filepath.Join(t.TempDir(), "portico.service")
	require.NoError(t, os.WriteFile(unit, []byte(strings.ReplaceAll(text, "/usr/local/bin/portico", program)), 0o644))
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", unit).CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "portico.service:")
	out, err = exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=yes", "--threshold=20", unit).CombinedOutput()
	require.NoError(t, err, string(out))
}

var (
	instruction = regexp.MustCompile(`(?m)^([A-Z]+)\s+((?:.*\\\n)*.*)$`)
	assignment  = regexp.MustCompile(`(PORTICO_\w+)=(\S+)`)
	quoted      = regexp.MustCompile(`"([^"]*)"`)
)

// containerImage is the content of a Dockerfile.
type containerImage struct {
	environment       map[string]string
	entry, arguments  []string
	health, from, all []string
}

func dockerfile(t *testing.T) (i containerImage) {
	t.Helper()
	strip := func(list string) (words []string) {
		for _, match := range quoted.FindAllStringSubmatch(list, -1) {
			words = append(words, match[1])
		}
		return words
	}
	i.environment = map[string]string{}
	for _, match := range instruction.FindAllStringSubmatch(readPackaging(t, "Dockerfile"), -1) {
		switch rest := match[2]; match[1] {
		case "FROM":
			words := slices.DeleteFunc(strings.Fields(rest), func(word string) bool { return strings.HasPrefix(word, "--") })
			i.from = append(i.from, words[0])
		case "ENV":
			for _, pair := range assignment.FindAllStringSubmatch(rest, -1) {
				i.environment[pair[1]] = pair[2]
			}
		case "ENTRYPOINT":
			i.entry = strip(rest)
		case "CMD":
			i.arguments = strip(rest)
		case "HEALTHCHECK":
			i.health = strip(rest)
		default:
			i.all = append(i.all, match[1]+" "+rest)
		}
	}
	return i
}

func TestDockerfile(t *testing.T) {
	i := dockerfile(t)
	require.Len(t, i.from, 3)
	for _, from := range i.from {
		requireVersion(t, from)
	}
	tool, err := os.ReadFile("graph/graphiql/package.json")
	require.NoError(t, err)
	least := regexp.MustCompile(`"node": ">=(\d+)"`).FindSubmatch(tool)
	require.NotNil(t, least)
	require.Regexp(t, `^node:\d\d\.`, i.from[0])
	require.GreaterOrEqual(t, i.from[0], "node:"+string(least[1])+".", "the Node that GraphiQL's bundle needs")
	require.Contains(t, i.all, "COPY --from=node /usr/local /usr/local")
	module, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)\.`).FindStringSubmatch(string(module))
	require.NotNil(t, version)
	require.Regexp(t, `^golang:`+regexp.QuoteMeta(version[1])+`\.\d+-`, i.from[1], "the Go of go.mod")
	require.Contains(t, i.from[2], "distroless/static")
	require.Equal(t, []string{"/portico"}, i.entry)
	require.Equal(t, ":8080", parseCommand(t, i.environment, i.arguments...).Serve.Addr)
	require.Equal(t, "/portico", i.health[0])
	healthEnvironment := map[string]string{"PORTICO_ADDR": i.environment["PORTICO_ADDR"]} // the other variables are for serve
	require.Equal(t, ":8080", parseCommand(t, healthEnvironment, i.health[1:]...).Health.Addr)
	require.Contains(t, i.all, "USER 65532:65532")
	require.Contains(t, i.all, "EXPOSE 8080")
	require.Contains(t, strings.Join(i.all, "\n"), "go run ./internal/release -o /out ")
	require.DirExists(t, "internal/release")
}

// composeFile is the part of compose.yaml that is tested.
type composeFile struct {
	Services map[string]struct {
		Build           struct{ Context, Dockerfile string }
		Image           string
		Command         []string
		Environment     map[string]string
		Secrets         []string
		Networks        []string
		Volumes         []string
		DependsOn       map[string]any `yaml:"depends_on"`
		Healthcheck     struct{ Test []string }
		StopGracePeriod time.Duration `yaml:"stop_grace_period"`
		ReadOnly        bool          `yaml:"read_only"`
	}
	Networks map[string]struct {
		IPAM struct{ Config []struct{ Subnet string } }
	}
	Volumes map[string]any
	Secrets map[string]struct{ File string }
}

func TestComposeFile(t *testing.T) {
	var c composeFile
	require.NoError(t, yaml.Unmarshal([]byte(readPackaging(t, "compose.yaml")), &c))
	i, proxy := dockerfile(t), readPackaging(t, "Caddyfile")
	mounted := regexp.MustCompile(`/run/secrets/(\w+)`)
	serving := 0
	for name, s := range c.Services {
		for _, secret := range s.Secrets {
			require.Contains(t, c.Secrets, secret, name)
		}
		for _, value := range s.Environment {
			for _, file := range mounted.FindAllStringSubmatch(value, -1) {
				require.Contains(t, s.Secrets, file[1], name)
			}
		}
		for _, network := range s.Networks {
			require.Contains(t, c.Networks, network, name)
		}
		for needed := range s.DependsOn {
			require.Contains(t, c.Services, needed, name)
			require.NotEmpty(t, c.Services[needed].Healthcheck.Test, "%s waits for %s to be healthy", name, needed)
		}
		for _, volume := range s.Volumes {
			if from, _, _ := strings.Cut(volume, ":"); strings.HasPrefix(from, "./") {
				require.FileExists(t, filepath.Join("packaging", from), name)
			} else {
				require.Contains(t, c.Volumes, from, name)
			}
		}
		if s.Build.Dockerfile == "" {
			requireVersion(t, s.Image)
			continue
		}
		serving++
		require.FileExists(t, filepath.Join("packaging", s.Build.Context, s.Build.Dockerfile))
		require.True(t, s.ReadOnly)
		require.Contains(t, i.all, "VOLUME "+s.Environment["TMPDIR"], "the volume for temporary files of imports")
		environment := i.environment
		for variable, value := range s.Environment {
			environment[variable] = regexp.MustCompile(`\$\{\w+:-(.*?)\}`).ReplaceAllString(value, "$1") // the default
		}
		serve := parseCommand(t, environment, s.Command...).Serve
		require.Greater(t, s.StopGracePeriod, serve.Linger+drainTime)
		require.Regexp(t, `\b`+name+regexp.QuoteMeta(serve.Addr)+`\b`, proxy, "the proxy forwards to it")
		require.Contains(t, readPackaging(t, "prometheus.yml"), name+serve.AdminAddr)
		trusted, err := netip.ParsePrefix(serve.TrustedProxies[0])
		require.NoError(t, err)
		require.Equal(t, trusted.String(), c.Networks[s.Networks[0]].IPAM.Config[0].Subnet)
		require.Contains(t, c.Services["proxy"].Networks, s.Networks[0])
		require.Equal(t, []string{"CMD", "/portico", "health", "--ready"}, s.Healthcheck.Test)
		interval, err := time.ParseDuration(regexp.MustCompile(`health_interval (\S+)`).FindStringSubmatch(proxy)[1])
		require.NoError(t, err)
		require.Less(t, 2*interval, serve.Linger, "the proxy must notice /readyz before the server stops")
	}
	require.Equal(t, 2, serving)
	require.Contains(t, proxy, "health_uri /readyz")
}

// podSpec is the part of a pod that is tested.
type podSpec struct {
	EnableServiceLinks            *bool          `yaml:"enableServiceLinks"`
	AutomountServiceAccountToken  *bool          `yaml:"automountServiceAccountToken"`
	TerminationGracePeriodSeconds int            `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               map[string]any `yaml:"securityContext"`
	Containers                    []struct {
		Image string
		Args  []string
		Env   []struct{ Name, Value string }
		Ports []struct {
			Name string
			Port int `yaml:"containerPort"`
		}
		StartupProbe    probe          `yaml:"startupProbe"`
		LivenessProbe   probe          `yaml:"livenessProbe"`
		ReadinessProbe  probe          `yaml:"readinessProbe"`
		SecurityContext map[string]any `yaml:"securityContext"`
		VolumeMounts    []struct {
			Name string
			Path string `yaml:"mountPath"`
		} `yaml:"volumeMounts"`
	}
	Volumes []struct {
		Name   string
		Secret struct {
			Name string `yaml:"secretName"`
			Mode int    `yaml:"defaultMode"`
		}
	}
}

type probe struct {
	HTTPGet          struct{ Path, Port string } `yaml:"httpGet"`
	PeriodSeconds    int                         `yaml:"periodSeconds"`
	TimeoutSeconds   int                         `yaml:"timeoutSeconds"`
	FailureThreshold int                         `yaml:"failureThreshold"`
}

// manifestSpec is the part of a resource of kubernetes/portico.yaml that is tested. The module
// tools/kubernetes decodes all of it with the types of Kubernetes.
type manifestSpec struct {
	Replicas int
	Strategy struct {
		RollingUpdate struct {
			MaxSurge int `yaml:"maxSurge"`
		} `yaml:"rollingUpdate"`
	}
	Selector    map[string]any
	PodSelector map[string]any `yaml:"podSelector"`
	Ports       []struct {
		TargetPort string `yaml:"targetPort"`
	}
	Ingress  []struct{ Ports []struct{ Port string } }
	Template struct {
		Metadata struct{ Labels map[string]any }
		Spec     podSpec
	}
}

func readManifest(t *testing.T) map[string]manifestSpec {
	t.Helper()
	resources := map[string]manifestSpec{}
	documents := yaml.NewDecoder(strings.NewReader(readPackaging(t, "kubernetes/portico.yaml")))
	for {
		var resource struct {
			Kind string
			Spec manifestSpec
		}
		err := documents.Decode(&resource)
		if errors.Is(err, io.EOF) {
			return resources
		}
		require.NoError(t, err)
		resources[resource.Kind] = resource.Spec
	}
}

// TestKubernetesManifest requires that flags, ports, probes and times fit the program.
func TestKubernetesManifest(t *testing.T) {
	resources := readManifest(t)
	deployment := resources["Deployment"]
	pod, labels := deployment.Template.Spec, deployment.Template.Metadata.Labels
	matching := map[string]any{"matchLabels": labels}
	require.Equal(t, matching, deployment.Selector)
	require.Equal(t, labels, resources["Service"].Selector)
	require.Equal(t, matching, resources["PodDisruptionBudget"].Selector)
	require.Equal(t, matching, resources["NetworkPolicy"].PodSelector)

	require.Len(t, pod.Containers, 1)
	c := pod.Containers[0]
	requireVersion(t, c.Image)
	environment := map[string]string{}
	for _, variable := range c.Env {
		environment[variable.Name] = variable.Value
	}
	serve := parseCommand(t, environment, c.Args...).Serve
	ports := map[string]string{}
	for _, port := range c.Ports {
		ports[port.Name] = ":" + strconv.Itoa(port.Port)
	}
	require.Equal(t, map[string]string{"http": serve.Addr, "admin": serve.AdminAddr}, ports)
	require.Equal(t, "http", resources["Service"].Ports[0].TargetPort)
	for _, rule := range resources["NetworkPolicy"].Ingress {
		require.Contains(t, ports, rule.Ports[0].Port)
	}

	for _, p := range []probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		require.Equal(t, "http", p.HTTPGet.Port)
	}
	require.Equal(t, web.HealthPath, c.StartupProbe.HTTPGet.Path)
	require.Equal(t, web.HealthPath, c.LivenessProbe.HTTPGet.Path)
	require.Equal(t, web.ReadyPath, c.ReadinessProbe.HTTPGet.Path)
	require.Greater(t, c.ReadinessProbe.TimeoutSeconds, 2, "/readyz waits 2 s for the database")
	require.Greater(t, time.Duration(pod.TerminationGracePeriodSeconds)*time.Second, serve.Linger+drainTime)

	var secrets string // where the files of the Secret are
	for _, volume := range pod.Volumes {
		for _, mount := range c.VolumeMounts {
			if mount.Name == volume.Name && volume.Secret.Name != "" {
				secrets = mount.Path
				require.Equal(t, 0o440, volume.Secret.Mode, "the group, which is fsGroup, must be able to read it")
			}
		}
	}
	require.NotEmpty(t, secrets)
	require.Equal(t, secrets+"/seal_key", serve.KeyFile)
	database, err := url.Parse(serve.DatabaseURL)
	require.NoError(t, err)
	require.Equal(t, secrets+"/pgpass", database.Query().Get("passfile"))
	connections, err := strconv.Atoi(database.Query().Get("pool_max_conns"))
	require.NoError(t, err)
	pods := deployment.Replicas + deployment.Strategy.RollingUpdate.MaxSurge
	most := pods * (2*connections + 6) // docs/postgresql.md
	require.Contains(t, readPackaging(t, "kubernetes/portico.yaml"), fmt.Sprintf("use at most %d of", most))
	require.Less(t, most, 100, "PostgreSQL's default max_connections")

	user := fmt.Sprintf("USER %d:%d", pod.SecurityContext["runAsUser"], pod.SecurityContext["runAsGroup"])
	require.Contains(t, dockerfile(t).all, user)
	require.Equal(t, pod.SecurityContext["runAsGroup"], pod.SecurityContext["fsGroup"])
	require.Equal(t, true, pod.SecurityContext["runAsNonRoot"])
	require.Equal(t, map[string]any{"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": map[string]any{"drop": []any{"ALL"}}},
		c.SecurityContext)
	require.Equal(t, new(false), pod.EnableServiceLinks, "variables of a Service named portico begin with PORTICO_")
	require.Equal(t, new(false), pod.AutomountServiceAccountToken)
}

// TestPackagingPassesItsLinters checks files with the programs that read them, if installed.
func TestPackagingPassesItsLinters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program string
		args    []string
	}{
		{"caddy", []string{"validate", "--adapter", "caddyfile", "--config", "packaging/Caddyfile"}},
		{"promtool", []string{"check", "config", "packaging/prometheus.yml"}},
	} {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath(c.program)
			if err != nil {
				testkit.SkipMissing(t, c.program, "it checks its configuration")
			}
			out, err := exec.CommandContext(t.Context(), program, c.args...).CombinedOutput()
			require.NoError(t, err, string(out))
		})
	}
}
