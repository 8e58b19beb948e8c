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

// target is an operating system and a processor, by their Go names.
type target struct{ system, machine string }

func (t target) String() string { return t.system + "/" + t.machine }

// allTargets is the default of the command line.
var allTargets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

func targetNames(targets []target) string {
	var all []string
	for _, t := range targets {
		all = append(all, t.String())
	}
	return strings.Join(all, " ")
}

// buildEnv returns the environment of go build. It sets all that changes a binary, so that the user's
// environment and go env -w do not.
func (t target) buildEnv() []string {
	return append(os.Environ(), "GOOS="+t.system, "GOARCH="+t.machine, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off")
}

// run builds the commit that is checked out in repository into o.folder, and prints the checksums.
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
	sbomTool := ""
	if o.sbom {
		if sbomTool, err = buildSBOMTool(ctx, source, work); err != nil {
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
		sbom := strings.TrimSuffix(binary, ".exe") + ".cdx.json"
		if err := writeSBOM(ctx, sbomTool, source, filepath.Join(o.folder, binary), filepath.Join(o.folder, sbom)); err != nil {
			return fmt.Errorf("write the SBOM of %s: %w", t, err)
		}
		written = append(written, sbom)
	}
	return writeChecksums(o.folder, written, out)
}

// checkout clones the repository's commit into a folder, so that a release contains committed files only.
// It prints how many files differ from the commit.
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
		fmt.Fprintf(out, "%d files have uncommitted changes, which are not released\n", strings.Count(changed, "\n")+1)
	}
	if _, err := command(ctx, repository, nil, "git", "clone", "--quiet", "--no-checkout", ".", folder); err != nil {
		return err
	}
	_, err = command(ctx, folder, nil, "git", "checkout", "--quiet", "--detach", commit)
	return err
}

// bundleGraphiQL bundles GraphiQL in a clone, for go build to embed. npm installs the versions that
// graph/graphiql/package-lock.json pins, so that each bundle of a commit has the same bytes. Git ignores
// the files, so that Go does not mark the binary's version as dirty.
func bundleGraphiQL(ctx context.Context, source string) error {
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("npm bundles GraphiQL for the binaries, but is not installed. Install Node 20 or newer, or pass -graphiql=false to build without GraphiQL")
	}
	if _, err := command(ctx, source, nil, "npm", "run", "bundle", "--prefix", "graph/graphiql"); err != nil {
		return fmt.Errorf("bundling GraphiQL failed. Check that npm can reach its registry, or pass -graphiql=false to build without GraphiQL: %w", err)
	}
	return nil
}

// build builds the binary of a target into o.folder and returns its file name, which contains the version. It
// builds in work first, since only the binary knows the version.
func build(ctx context.Context, source, work string, o options, t target) (name string, err error) {
	built := filepath.Join(work, "portico")
	if _, err := command(ctx, source, t.buildEnv(), "go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w",
		"-pgo="+cmp.Or(o.profile, "off"), "-o", built, "."); err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(built)
	if err != nil {
		return "", err
	}
	if info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "", fmt.Errorf("go build found no version of the commit. Check that git is installed and that this is a git repository")
	}
	name = fmt.Sprintf("portico_%s_%s_%s", info.Main.Version, t.system, t.machine)
	if t.system == "windows" {
		name += ".exe"
	}
	return name, move(built, filepath.Join(o.folder, name))
}

// move replaces a file atomically, even if from is on another file system. It leaves from.
func move(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	temporary := to + ".part"
	if err := os.WriteFile(temporary, content, 0o755); err != nil {
		return err
	}
	return os.Rename(temporary, to)
}

// writeChecksums writes the file SHA256SUMS for sha256sum --check, and prints it.
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
