//go:build !linux

package storetest

import "syscall"

func processAttributes(*credential) *syscall.SysProcAttr { return nil }

func roomInMemory(string) bool { return false }
