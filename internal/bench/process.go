//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a server under load: the product, or its floor.
type process struct {
	addr    string
	command *exec.Cmd
}

func (p *process) pid() int { return p.command.Process.Pid }

// stop ends the process, and waits until it has.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait()
}

// memory is a line of the process's status, such as VmRSS, in MiB.
func (p *process) memory(name string) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid()))
	if err != nil {
		return 0
	}
	found := regexp.MustCompile(name + `:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		return 0
	}
	kilobytes, _ := strconv.ParseFloat(string(found[1]), 64)
	return kilobytes / 1024
}

// forgetPeak lets VmHWM begin anew.
func (p *process) forgetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.pid()), []byte("5"), 0)
}

// program is a command of the product. Its environment has the sealing key and no
// other variable of ours: the product refuses those that only benchmarks and tests
// have.
func (b *bench) program(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, b.portico, args...)
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(variable, "PORTICO_") && !strings.HasPrefix(variable, "PORTICO_SEAL_KEY=")
	})
	return command
}

// serve starts the product on a database, and waits until it is ready. Its
// log is written as in production, and thrown away.
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
	return nil, fmt.Errorf("the server does not get ready; try: portico serve %s", strings.Join(args, " "))
}

// freeAddress is one that nobody listens on.
func freeAddress() (string, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return free.Addr().String(), free.Close()
}

// has tells whether the server knows a flag.
func (b *bench) has(flag string) bool {
	help, err := b.program(b.ctx, "serve", "--help").Output()
	return err == nil && bytes.Contains(help, []byte(flag))
}

// command runs another command of the product, on the server's core, and
// returns what it prints and how long it took.
func (b *bench) command(input string, args ...string) (output string, took time.Duration, err error) {
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
	return stdout.String(), time.Since(begin), err
}

// child is this program in another role, on the server's core. It is written
// to, and answers in lines.
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

// line is the child's next.
func (c *child) line() (string, error) {
	line, err := c.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s says nothing: %w", c.command.Args[1], err)
	}
	return strings.TrimSpace(line), nil
}

// removeDatabase removes a SQLite database with what lies beside it.
func removeDatabase(file string) {
	for _, end := range []string{"", "-wal", "-shm", ".lock"} {
		_ = os.Remove(file + end)
	}
}
