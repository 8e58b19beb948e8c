package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// command runs a program in a folder and returns what it prints, without the
// line's end.
func command(ctx context.Context, folder string, environment []string, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = folder, environment
	var complaints strings.Builder
	c.Stderr = &complaints
	printed, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, strings.TrimSpace(complaints.String()))
	}
	return strings.TrimSuffix(string(printed), "\n"), nil
}
