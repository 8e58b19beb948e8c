package main

import (
	"context"
	"os"
	"path/filepath"
)

// manualFiles are the manual page and the completions, by name, with the arguments that print them.
var manualFiles = map[string][]string{
	"portico.1":    {"man"},
	"portico.bash": {"completion", "bash"},
	"portico.zsh":  {"completion", "zsh"},
	"portico.fish": {"completion", "fish"},
}

// writeManual writes manualFiles as the program of a commit prints them, and returns their names.
func writeManual(ctx context.Context, source, work, folder string) (written []string, err error) {
	program := filepath.Join(work, "portico-manual")
	environment := append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOOS=", "GOARCH=")
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
