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

// writeSBOM writes the modules in a binary, their licences and the binary's version. It reads the binary
// and not the repository, where the generator derives a version of its own, from the time at which the
// commit was written first and not, as Go does, last. It omits the time and the serial number, so that
// the file is reproducible.
func writeSBOM(ctx context.Context, tool, source, binary, file string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	file, err = filepath.Abs(file)
	if err != nil {
		return err
	}
	_, err = command(ctx, source, nil, tool, "bin", "-json", "-licenses", "-noserial", "-notimestamp", "-output", file, binary)
	return err
}
