//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	seconds     float64
	products    int
	large       int
	distinct    int
	connections int
	only        string
	postgres    string
	folder      string
	profile     string
	pgo         string
}

// bench is the state that rows share.
type bench struct {
	options
	ctx     context.Context
	folder  string
	portico string // the binary
	shops   []*shop
}

// source is the folder of the server's module, from this one.
const source = "../.."

// build builds the server.
func (b *bench) build() (err error) {
	pgo := cmp.Or(b.pgo, "off")
	if pgo != "off" {
		if pgo, err = filepath.Abs(pgo); err != nil {
			return err
		}
	}
	build := exec.CommandContext(b.ctx, "go", "build", "-C", source, "-pgo", pgo, "-o", b.portico, ".")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the server: %w", err)
	}
	return nil
}

func (b *bench) close() {
	for _, s := range b.shops {
		s.stop()
		if s.drop != nil {
			s.drop()
		}
	}
}

// program returns a command of portico. Of the variables PORTICO_* its environment has the sealing key
// alone, because portico rejects the variables of tests.
func (b *bench) program(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, b.portico, args...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "PORTICO_") && !strings.HasPrefix(variable, "PORTICO_SEAL_KEY=")
	})
	return command
}

// serve starts the server and waits until it is ready. It discards the log.
func (b *bench) serve(args ...string) (*process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &process{addr: addr, command: b.program(context.Background(), append([]string{"serve", "--addr", addr}, args...)...)}
	if err := startOn(serverCore, p.command); err != nil {
		return nil, err
	}
	for range 600 {
		answer, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return p, nil
			}
		}
		select {
		case <-b.ctx.Done():
			p.stop()
			return nil, b.ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	p.stop()
	return nil, fmt.Errorf("the server is not ready after 30 s; try: portico serve %s", strings.Join(args, " "))
}

// commandTime is the time of a command: on the clock, and of the processor in user and system mode.
type commandTime struct{ elapsed, cpu time.Duration }

// command runs a command of portico on the core of the servers, and returns its output and time.
func (b *bench) command(input string, args ...string) (output string, took commandTime, err error) {
	var stdout, stderr bytes.Buffer
	command := b.program(b.ctx, args...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &stdout, &stderr
	begin := time.Now()
	if err = startOn(serverCore, command); err == nil {
		err = command.Wait()
	}
	if err != nil {
		err = fmt.Errorf("portico %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	took.elapsed = time.Since(begin)
	if state := command.ProcessState; state != nil {
		took.cpu = state.UserTime() + state.SystemTime()
	}
	return stdout.String(), took, err
}
