package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

func TestParse(t *testing.T) {
	t.Parallel()
	o, err := parse(nil, io.Discard)
	require.NoError(t, err)
	require.Equal(t, options{folder: "dist", profile: "internal/bench/server.pgo", sbom: true, graphiql: true, targets: allTargets}, o)
	require.FileExists(t, filepath.Join("..", "..", o.profile))
	o, err = parse([]string{"-o", "x", "-pgo", "off", "-sbom=false", "-graphiql=false", "linux/riscv64"}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, options{folder: "x", profile: "off", targets: []target{{"linux", "riscv64"}}}, o)
	for _, wrong := range []string{"linux", "/amd64", "linux/", "linux/amd64/v3"} {
		_, err = parse([]string{wrong}, io.Discard)
		require.ErrorContains(t, err, "must be OS/ARCH, for example linux/arm64")
	}
}

func TestChecksumFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"b": "two", "a": "one"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	var out bytes.Buffer
	require.NoError(t, writeChecksums(folder, []string{"b", "a"}, &out))
	const sums = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  a\n" +
		"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3  b\n"
	require.Equal(t, sums, out.String())
	written, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, sums, string(written))
}

// TestReleaseIsReproducible builds the release from two clones, one with an uncommitted file, and
// compares the bytes. It builds without the profile, which takes less time, and without GraphiQL if npm
// cannot bundle it.
func TestReleaseIsReproducible(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "builds the program twice")
	if _, err := exec.LookPath("git"); err != nil {
		testkit.SkipMissing(t, "git", "release builds a commit")
	}
	from := t.TempDir()
	amended, elsewhere := filepath.Join(from, "amended"), filepath.Join(from, "elsewhere")
	for _, args := range [][]string{
		{"clone", "--quiet", filepath.Join("..", ".."), amended},
		// Go and the SBOM generator disagree on the version of a commit that was written twice.
		{"-C", amended, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--amend", "--no-edit", "--quiet", "--date=2020-01-01T00:00:00Z"},
		{"clone", "--quiet", amended, elsewhere},
	} {
		_, err := command(t.Context(), "", nil, "git", args...)
		require.NoError(t, err)
	}
	here := target{runtime.GOOS, runtime.GOARCH}
	bundle := t.TempDir()
	_, err := command(t.Context(), filepath.Join("..", ".."), nil, "git", "clone", "--quiet", ".", bundle)
	require.NoError(t, err)
	missing := bundleGraphiQL(t.Context(), bundle)
	var sums []string
	for i, repository := range []string{amended, elsewhere} {
		if i == 1 { // an uncommitted change, which is not released
			require.NoError(t, os.WriteFile(filepath.Join(repository, "schema.graphqls"), []byte("type Query { other: Int }"), 0o644))
		}
		folder := t.TempDir()
		var out bytes.Buffer
		o := options{folder: folder, profile: "off", sbom: i == 0, graphiql: missing == nil, targets: []target{here}}
		require.NoError(t, run(t.Context(), repository, o, &out))
		if i == 1 {
			require.Contains(t, out.String(), "1 files have uncommitted changes")
		}
		written, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
		require.NoError(t, err)
		binary, err := filepath.Glob(filepath.Join(folder, "portico_*_"+here.system+"_"+here.machine))
		require.NoError(t, err)
		require.Len(t, binary, 1)
		manual := 0
		for line := range strings.Lines(string(written)) {
			_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
			if manualFiles[name] != nil {
				manual++
				require.FileExists(t, filepath.Join(folder, name))
			}
			if manualFiles[name] != nil || name == filepath.Base(binary[0]) {
				sums = append(sums, line)
			}
		}
		require.Len(t, manualFiles, manual, "SHA256SUMS lists the manual page and the completions")
		if i == 0 {
			version, err := command(t.Context(), folder, []string{"LC_ALL=C"}, binary[0], "version")
			require.NoError(t, err)
			name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(binary[0]), "portico_"), "_"+here.system+"_"+here.machine)
			require.True(t, strings.HasPrefix(version, "portico "+name+" "), "version of %s: %s", binary[0], version)
			require.NotContains(t, version, "dirty")
			if missing == nil {
				requireGraphiQL(t, binary[0], bundle)
			}
			requireSBOM(t, binary[0]+".cdx.json", name)
		}
	}
	require.Equal(t, sums[:len(sums)/2], sums[len(sums)/2:])
	if missing != nil {
		testkit.SkipMissing(t, "graphiql", missing.Error())
	}
}

// TestBuildNeedsModulesOnly builds a clone without a network, in an empty home, and with no program but Go in PATH.
func TestBuildNeedsModulesOnly(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "builds the program")
	if _, err := exec.LookPath("git"); err != nil {
		testkit.SkipMissing(t, "git", "the test builds a clone")
	}
	clone, path, home := t.TempDir(), t.TempDir(), t.TempDir()
	_, err := command(t.Context(), filepath.Join("..", ".."), nil, "git", "clone", "--quiet", ".", clone)
	require.NoError(t, err)
	tool, err := exec.LookPath("go")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(tool, filepath.Join(path, "go")))
	environment := []string{"HOME=" + home, "PATH=" + path, "GOPROXY=off", "GOFLAGS=-trimpath", "CGO_ENABLED=0"}
	for _, name := range []string{"GOROOT", "GOMODCACHE", "GOCACHE"} { // the cache holds compiled packages, which no file of a clone changes
		value, err := command(t.Context(), "", nil, "go", "env", name)
		require.NoError(t, err)
		environment = append(environment, name+"="+value)
	}
	_, err = command(t.Context(), clone, environment, filepath.Join(path, "go"), "build", "-o", filepath.Join(path, "portico"), ".")
	require.NoError(t, err)
	version, err := command(t.Context(), home, []string{"HOME=" + home}, filepath.Join(path, "portico"), "version")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(version, "portico "), version)
}

func TestManualFiles(t *testing.T) {
	testkit.FullTestsOnly(t, "builds the program with other flags than go test")
	t.Parallel()
	folder := t.TempDir()
	written, err := writeManual(t.Context(), filepath.Join("..", ".."), t.TempDir(), folder)
	require.NoError(t, err)
	require.Len(t, written, len(manualFiles))
	for name, start := range map[string]string{
		"portico.1": ".TH PORTICO 1\n", "portico.bash": "# bash completion", "portico.zsh": "#compdef portico\n",
		"portico.fish": "# fish completion",
	} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), start), name)
	}
}

func TestReleaseWithoutNpm(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	require.ErrorContains(t, bundleGraphiQL(t.Context(), t.TempDir()), "Install Node 20 or newer, or pass -graphiql=false")
}

// requireGraphiQL requires that a binary contains the bundle of a clone.
func requireGraphiQL(t *testing.T, binary, clone string) {
	t.Helper()
	built, err := os.ReadFile(binary)
	require.NoError(t, err)
	for _, part := range []string{"graphiql.js", "graphiql.css", "licenses.txt"} {
		content, err := os.ReadFile(filepath.Join(clone, "graph", "graphiql", "dist", part))
		require.NoError(t, err)
		require.True(t, bytes.Contains(built, content), "%s is not in the binary", part)
	}
}

// requireSBOM requires the version, modules and licences in an SBOM.
func requireSBOM(t *testing.T, file, version string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), os.TempDir())
	var sbom struct {
		BOMFormat string
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct {
			Name, Version string
			Evidence      struct {
				Licenses []struct{ License struct{ ID string } }
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &sbom))
	require.Equal(t, []string{"CycloneDX", "portico", version},
		[]string{sbom.BOMFormat, sbom.Metadata.Component.Name, sbom.Metadata.Component.Version})
	licensed := map[string]string{}
	for _, c := range sbom.Components {
		for _, l := range c.Evidence.Licenses {
			licensed[c.Name] = l.License.ID
		}
	}
	require.Equal(t, "MIT", licensed["github.com/jackc/pgx/v5"])
	require.Equal(t, "Apache-2.0", licensed["github.com/prometheus/client_golang"])
	require.Greater(t, len(sbom.Components), 20)
	require.GreaterOrEqual(t, len(licensed), len(sbom.Components)-3, "at most 3 modules without a licence")
}
