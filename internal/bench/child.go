//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// child is this program as a floor, on the core of the servers. It reads standard input and prints lines.
type child struct {
	process
	in  io.WriteCloser
	out *bufio.Reader
}

func startChild(ctx context.Context, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{process: process{command: exec.CommandContext(ctx, self, args...)}}
	c.command.Stderr = os.Stderr
	if c.in, err = c.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, startOn(serverCore, c.command)
}

// line returns the next line that the child prints.
func (c *child) line() (string, error) {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s printed nothing: %w", c.command.Args[1], err)
	}
	return strings.TrimSpace(line), nil
}
