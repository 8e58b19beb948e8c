package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// target is a kind of machine.
type target struct{ system, machine string }

func (t target) String() string { return t.system + "/" + t.machine }

// allTargets are those of a release.
var allTargets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

func names(targets []target) string {
	var all []string
	for _, t := range targets {
		all = append(all, t.String())
	}
	return strings.Join(all, " ")
}

// environment is what Go builds by for a target, whatever the environment and
// go env -w say.
func (t target) environment() []string {
	return append(os.Environ(), "GOOS="+t.system, "GOARCH="+t.machine, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off")
}

// run builds the commit that is checked out in repository, and tells each file
// that it has written, with its checksum.
func run(ctx context.Context, repository string, o options, out io.Writer) error {
	work, err := os.MkdirTemp("", "portico-release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	source := filepath.Join(work, "source")
	if err := checkout(ctx, repository, source, out); err != nil {
		return err
	}
	if err := os.MkdirAll(o.folder, 0o755); err != nil {
		return err
	}
	if o.graphiql {
		if err := bundleGraphiQL(ctx, source); err != nil {
			return err
		}
	}
	bill := ""
	if o.sbom {
		if bill, err = buildSBOMTool(ctx, source, work); err != nil {
			return err
		}
	}
	written, err := writeManual(ctx, source, work, o.folder)
	if err != nil {
		return err
	}
	for _, t := range o.targets {
		binary, err := build(ctx, source, work, o, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		written = append(written, binary)
		if !o.sbom {
			continue
		}
		list := strings.TrimSuffix(binary, ".exe") + ".cdx.json"
		if err := writeSBOM(ctx, bill, source, filepath.Join(o.folder, list), t); err != nil {
			return fmt.Errorf("what is in the binary for %s: %w", t, err)
		}
		written = append(written, list)
	}
	return writeChecksums(o.folder, written, out)
}

// checkout clones the repository's commit into a folder of its own, so that a
// release holds what is committed, and nothing that lies around.
func checkout(ctx context.Context, repository, folder string, out io.Writer) error {
	commit, err := command(ctx, repository, nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	changed, err := command(ctx, repository, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		fmt.Fprintf(out, "%d files are not as they were committed, and not in the release\n", strings.Count(changed, "\n")+1)
	}
	if _, err := command(ctx, repository, nil, "git", "clone", "--quiet", "--no-checkout", ".", folder); err != nil {
		return err
	}
	_, err = command(ctx, folder, nil, "git", "checkout", "--quiet", "--detach", commit)
	return err
}

// bundleGraphiQL bundles GraphiQL in a clone, where go build embeds it. npm
// installs what graph/graphiql/package-lock.json pins, so that each bundle of a
// commit has the same bytes. The files are ignored by git: the version of the
// binary stays that of the commit.
func bundleGraphiQL(ctx context.Context, source string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("npm bundles GraphiQL for the binaries, but is not installed. Install Node 20 or newer, or pass -graphiql=false to build without GraphiQL")
	}
	if _, err := command(ctx, source, nil, "npm", "run", "bundle", "--prefix", "graph/graphiql"); err != nil {
		return fmt.Errorf("bundling GraphiQL failed. Check that npm can reach its registry, or pass -graphiql=false to build without GraphiQL: %w", err)
	}
	return nil
}

// build makes the binary of a target, and returns its name, which has the
// version in it.
func build(ctx context.Context, source, work string, o options, t target) (name string, err error) {
	made := filepath.Join(work, "portico")
	if _, err := command(ctx, source, t.environment(), "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w",
		"-pgo="+cmp.Or(o.profile, "off"), "-o", made, "."); err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(made)
	if err != nil {
		return "", err
	}
	if info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "", fmt.Errorf("go does not know the version of the commit: is git there, and is this its repository?")
	}
	name = fmt.Sprintf("portico_%s_%s_%s", info.Main.Version, t.system, t.machine)
	if t.system == "windows" {
		name += ".exe"
	}
	return name, move(made, filepath.Join(o.folder, name))
}

// move puts a file in its place at once, on another disk too.
func move(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	beside := to + ".part"
	if err := os.WriteFile(beside, content, 0o755); err != nil {
		return err
	}
	return os.Rename(beside, to)
}

// writeChecksums writes SHA256SUMS, as sha256sum --check reads it.
func writeChecksums(folder string, files []string, out io.Writer) error {
	slices.Sort(files)
	var sums strings.Builder
	for _, name := range files {
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
	}
	if _, err := io.WriteString(out, sums.String()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o644)
}
