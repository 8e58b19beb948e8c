//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
)

// process is a server under load: portico or its floor.
type process struct {
	addr    string
	command *exec.Cmd
}

func (p *process) pid() int { return p.command.Process.Pid }

// stop terminates the process and waits for its end.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait()
}

// memory returns a field of /proc/PID/status, for example VmRSS, in MiB.
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

// resetPeak resets VmHWM.
func (p *process) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.pid()), []byte("5"), 0)
}

// freeAddress returns an address that is not in use.
func freeAddress() (string, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return free.Addr().String(), free.Close()
}

// removeDatabase removes the files of a SQLite database.
func removeDatabase(file string) {
	for _, end := range []string{"", "-wal", "-shm", ".lock"} {
		_ = os.Remove(file + end)
	}
}
