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

// The cores of the servers and of the load generator.
const (
	serverCore = 0
	loadCore   = 1
)

// pinnedVariable marks a process that restartOnCore started.
const pinnedVariable = "PORTICO_BENCH_CORE"

// restartOnCore moves this process with all its threads to a core: it executes the program again from
// a thread on that core.
func restartOnCore(core int) error {
	if os.Getenv(pinnedVariable) != "" {
		return nil
	}
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("needs two cores, one for the server and one for the load")
	}
	runtime.LockOSThread()
	if err := pin(core); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, append(os.Environ(), pinnedVariable+"=1"))
}

// pin moves the calling thread to a core.
func pin(core int) error {
	var set unix.CPUSet
	set.Set(core)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin to core %d: %w", core, err)
	}
	return nil
}

// startOn starts a command on a core: a process inherits the core of the thread that starts it.
func startOn(core int, command *exec.Cmd) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so that the thread ends with the goroutine
		if err := pin(core); err != nil {
			done <- err
			return
		}
		done <- command.Start()
	}()
	return <-done
}

// cpu returns the CPU time of all threads of a process.
func cpu(pid int) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
