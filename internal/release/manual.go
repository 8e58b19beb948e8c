package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// manualFiles maps the names of the manual page and the completions to the arguments that print them.
var manualFiles = map[string][]string{
	"portico.1":    {"man"},
	"portico.bash": {"completion", "bash"},
	"portico.zsh":  {"completion", "zsh"},
	"portico.fish": {"completion", "fish"},
}

// writeManual writes manualFiles into a folder and returns their names. It ignores PORTICO_ variables: they
// configure servers, and unknown ones are errors.
func writeManual(ctx context.Context, source, work, folder string) (written []string, err error) {
	program := filepath.Join(work, "portico-manual")
	environment := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "PORTICO_") })
	environment = append(environment, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOOS=", "GOARCH=")
	if _, err := command(ctx, source, environment, "go", "build", "-trimpath", "-buildvcs=false", "-o", program, "."); err != nil {
		return nil, err
	}
	for name, args := range manualFiles {
		text, err := command(ctx, source, environment, program, args...)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text+"\n"), 0o644); err != nil {
			return nil, err
		}
		written = append(written, name)
	}
	return written, nil
}
