//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The cores: servers have the one, and all that asks them the other.
const (
	serverCore = 0
	loadCore   = 1
)

// keptTo marks a process that keepTo has started anew.
const keptTo = "PORTICO_BENCH_CORE"

// keepTo brings this process with all its threads to a core: it starts the
// program again in its own place, from a thread that is there.
func keepTo(core int) error {
	if os.Getenv(keptTo) != "" {
		return nil
	}
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("it takes two cores, one for the server and one for the load")
	}
	runtime.LockOSThread()
	if err := pin(core); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, append(os.Environ(), keptTo+"=1"))
}

// pin brings the calling thread to a core.
func pin(core int) error {
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("keep to core %d: %w", core, err)
	}
	return nil
}

// startOn starts a command on a core: a process is born where the thread is
// that makes it.
func startOn(core int, command *exec.Cmd) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks, so that the thread ends with the goroutine
		if err := pin(core); err != nil {
			done <- err
			return
		}
		done <- command.Start()
	}()
	return <-done
}

// cpu is the time that a process has spent on cores, all threads together.
func cpu(pid int) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
