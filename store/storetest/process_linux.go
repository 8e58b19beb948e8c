package storetest

import "syscall"

// processAttributes run a process as its owner, out of the terminal's reach,
// and end it when this process dies.
func processAttributes(owner *credential) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	if owner != nil {
		attributes.Credential = &syscall.Credential{Uid: owner.uid, Gid: owner.gid}
	}
	return attributes
}
