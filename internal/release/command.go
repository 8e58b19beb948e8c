package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// command runs a program in a folder and returns its output without the final newline. A nil environment
// is that of this process. The error contains the standard error.
func command(ctx context.Context, folder string, environment []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = folder, environment
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSuffix(string(stdout), "\n"), nil
}
