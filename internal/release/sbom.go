package main

import (
	"context"
	"os"
	"path/filepath"
)

// sbomToolPath is the package of the SBOM generator. tools/go.mod pins its version.
const sbomToolPath = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod"

// buildSBOMTool builds the SBOM generator for this machine.
func buildSBOMTool(ctx context.Context, source, work string) (program string, err error) {
	program = filepath.Join(work, "cyclonedx-gomod")
	environment := append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	_, err = command(ctx, source, environment, "go", "build", "-modfile=tools/go.mod", "-trimpath", "-buildvcs=false", "-o", program, sbomToolPath)
	return program, err
}

// writeSBOM writes the modules in the binary of a target and their licences. It omits the time and the
// serial number, so that the file is reproducible.
func writeSBOM(ctx context.Context, tool, source, file string, t target) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	_, err = command(ctx, source, t.buildEnv(), tool, "app", "-json", "-licenses", "-noserial", "-notimestamp", "-main", ".", "-output", file, ".")
	return err
}
