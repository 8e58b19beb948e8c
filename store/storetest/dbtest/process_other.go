//go:build !linux

package dbtest

import "syscall"

func processAttributes(*credential) *syscall.SysProcAttr { return nil }

func fitsInMemory(string) bool { return false }

// killPostmaster does nothing: only Linux lists the processes of a server in /proc.
func killPostmaster(int, string) {}
func suspendProcess(int)         {}
