package main

import (
	"context"
	"os"
	"path/filepath"
)

// sbomTool is the program that lists what is in a binary; tools/go.mod has its
// version.
const sbomTool = "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod"

// buildSBOMTool builds it for this machine.
func buildSBOMTool(ctx context.Context, source, work string) (program string, err error) {
	program = filepath.Join(work, "cyclonedx-gomod")
	environment := append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	_, err = command(ctx, source, environment, "go", "build", "-modfile=tools/go.mod", "-trimpath", "-buildvcs=false", "-o", program, sbomTool)
	return program, err
}

// writeSBOM lists the modules that are in the binary of a target, with what was
// found of their licences. It has neither a time nor a number of its own, so
// that it is the same each time.
func writeSBOM(ctx context.Context, program, source, file string, t target) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	_, err = command(ctx, source, t.environment(), program, "app", "-json", "-licenses", "-noserial", "-notimestamp", "-main", ".", "-output", file, ".")
	return err
}
